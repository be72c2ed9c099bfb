//! Guards the processes of a delegation. The library starts this program; if you start it yourself,
//! it does nothing.

fn main() {
    dirigent_delegate::serve_guard_if_asked();
    eprintln!(
        "this program is started by dirigent-delegate, for hosts that choose it with Guard::program"
    );
    std::process::exit(2);
}
