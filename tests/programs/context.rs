//! What a build of a context takes natively: `cargo run --release --example context -- <log> <request> <times>` prints
//! the microseconds of each, one a line. The log lies in memory, as it does for the WebAssembly beside it.

use std::hint::black_box;
use std::time::Instant;

use leftoff::context::write_context;
use leftoff::context::{Build, Outcome, Request};
use leftoff::session::handle::Session;
use leftoff::session::input_request::InputRequest;
use leftoff::tokens::Vocabulary;

fn main() {
    let [path, request, times] = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .expect("usage: context <log> <request> <times>");
    let log = std::fs::read(&path).expect("the log can be read");
    let request = Request::from_json(&request).expect("the request is one");
    let times: u32 = times.parse().expect("times is a number");
    let vocabulary = Vocabulary::o200k_base();
    let mut session = Session::new(None);
    let found = session.messages().observe(&log, 0).expect("it is observed from its start");
    session.take_messages(found);
    while let Some(span) = session.unfolded_span() {
        session.fold_bytes(&log[span.start as usize..span.end as usize]);
    }
    for _ in 0..times {
        let start = Instant::now();
        black_box(build_context(&log, &session, request.clone(), &vocabulary));
        println!("{}", start.elapsed().as_micros());
    }
}

fn build_context(log: &[u8], session: &Session, request: Request, vocabulary: &Vocabulary) -> String {
    let (format, asked) = (request.format, request.clone());
    let mut build = Build::new(request, session.source());
    loop {
        match build.next(Some(vocabulary)).expect("the budget is large enough") {
            Outcome::Ready(context) => {
                return write_context(&context, Some(format), context.recipient(&asked));
            }
            Outcome::Needs(InputRequest::Bytes { range }) => {
                let bytes = &log[range.start as usize..range.end as usize];
                build.take_bytes(range.start, bytes).expect("these were wanted");
            }
            Outcome::Needs(needs) => {
                panic!("expected a log with everything in it, but found {needs:?} wanted")
            }
        }
    }
}
