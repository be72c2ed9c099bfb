//! A real PostgreSQL, from the outside. Where none is installed each test says so and ends.

mod contract;
mod leases;
mod place;
mod record;
mod trace;
mod worlds;
