//! What may be sent, shared and cloned is part of the interface, and easily lost unnoticed.

use dirigent::command::{BadMode, CommandAnswer, Invoker};
use dirigent::host::{BuildError, RunError};
use dirigent::operate::{ChannelEvent, Events, Status};
use dirigent::ports::{ApiError, Identity, Nonce, Post};
use dirigent::replay::Recording;
use dirigent::settings::{IdentityLine, UnknownField};
use dirigent::store::{ChannelRecord, Commit, CommitError, MemoryChannels};
use dirigent::tools::{Caller, ToolCall, ToolDefinition, ToolError, Tools};
use dirigent::{
    AgentId, CallError, ChatMessage, Denial, Dirigent, Driver, MemoryIdentities, Permit, Reply,
    Settings, SystemClock, Turn,
};
use dirigent_core::{Config, Effect, Input, Snapshot, TurnMachine};

const fn shared<T: Send + Sync + 'static>() {}
const fn cloned<T: Clone + Send + Sync + 'static>() {}
const fn error<T: std::error::Error + Send + Sync + 'static>() {}
fn sent<T: Send + 'static>(_: impl FnOnce(Driver) -> T) {}

#[test]
fn the_handle_is_a_cheap_clone_for_any_task() {
    cloned::<Dirigent>();
}

#[test]
fn the_driver_runs_wherever_the_host_spawns_it() {
    shared::<Driver>();
    sent(Driver::run);
}

#[test]
fn values_travel_between_tasks() {
    cloned::<AgentId>();
    cloned::<ChannelEvent>();
    cloned::<ChannelRecord>();
    cloned::<ChatMessage>();
    cloned::<Commit>();
    cloned::<Config>();
    cloned::<Effect>();
    cloned::<Caller>();
    cloned::<CommandAnswer>();
    cloned::<Identity>();
    cloned::<IdentityLine>();
    cloned::<Invoker>();
    cloned::<ToolCall>();
    cloned::<ToolDefinition>();
    cloned::<Tools>();
    cloned::<Input>();
    cloned::<MemoryChannels>();
    cloned::<MemoryIdentities>();
    cloned::<Nonce>();
    cloned::<Post>();
    cloned::<Recording>();
    cloned::<Reply>();
    cloned::<Settings>();
    cloned::<Snapshot>();
    cloned::<Status>();
    cloned::<SystemClock>();
    cloned::<Turn>();
    shared::<TurnMachine>();
    shared::<Denial>();
    shared::<Permit>();
    shared::<Events>();
}

#[test]
fn errors_can_be_boxed_and_sent() {
    error::<ApiError>();
    error::<BadMode>();
    error::<ToolError>();
    error::<UnknownField>();
    error::<BuildError>();
    error::<CallError>();
    error::<CommitError>();
    error::<RunError>();
}
