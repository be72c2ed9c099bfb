//! A host for tests. It delegates its second argument to `delegate_child` and writes the result. Its first argument
//! names the guard: another program, or itself. With `hidden` as the third argument it hides itself first.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for tests")]

use dirigent_delegate::{CliDelegate, Delegate as _, Guard, Task};

fn main() {
    dirigent_delegate::serve_guard_if_asked();
    let mut arguments = std::env::args().skip(1);
    let guard = match arguments.next().as_deref() {
        Some("itself") | None => Guard::this_program(),
        Some(program) => Guard::program(program),
    };
    let child = std::env::current_exe().unwrap().with_file_name("delegate_child");
    let agent = CliDelegate::new(child).guard(guard);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let order = arguments.next().unwrap_or_default();
    if arguments.next().is_some_and(|argument| argument == "hidden") {
        dirigent_delegate::hide_process().unwrap();
    }
    let outcome = runtime.block_on(agent.run(Task::new(order)));
    print!("{}", outcome.output);
}
