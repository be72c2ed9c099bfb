//! A real PostgreSQL, from the outside. Where none is installed each test says so and ends.

mod clock;
mod contract;
mod cut;
mod fit;
mod keeper;
mod leases;
mod moving;
mod namesake;
mod place;
mod pooler;
mod record;
mod registry;
mod standby;
mod tls;
mod trace;
mod worlds;
