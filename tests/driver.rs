//! The driver on a stage: chat, store and clock in memory, agents by script.

mod calls;
mod consulting;
mod delivery;
mod demands;
mod discussions;
mod every_call;
mod flow;
mod gaps;
mod interrupting;
mod last_word;
mod lifecycle;
mod neighbours;
mod notices;
mod operator;
mod ownership;
mod presence;
mod registry_news;
mod repetition;
mod reply_limits;
mod restart;
mod settings;
mod settings_file;
mod store;
mod threads;
mod turns;
