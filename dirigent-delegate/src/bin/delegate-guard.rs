//! Stands guard over the processes of a delegation. The library starts it; by hand it does nothing.

fn main() {
    dirigent_delegate::serve_guard_if_asked();
    eprintln!(
        "this program is started by dirigent-delegate, for hosts that choose it with Guard::program"
    );
    std::process::exit(2);
}
