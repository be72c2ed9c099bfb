//! Actors on a model: a scripted endpoint on loopback.

use dirigent_llm::script::{LoopbackLlm, Received, ScriptedAnswer};
use dirigent_llm::{Chat, Endpoint};
use dirigent_scene::{Character, ModelActors, Prompt};

use crate::fixture::{Place, files, material, says, turn};

fn model(endpoint: &LoopbackLlm) -> Chat {
    Chat::new(Endpoint::new(endpoint.url(), "small")).limits(|limits| limits.retries = 0)
}

fn roles(request: &Received) -> Vec<(String, String)> {
    let messages = request.body["messages"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    messages.map(|message| (text(&message["role"]), text(&message["content"]))).collect()
}

/// R208, R212, R228, R245
#[tokio::test]
async fn each_actor_has_a_history_of_its_own_with_its_own_tags() {
    let endpoint = LoopbackLlm::start().await.unwrap();
    let place = Place::new(&[]);
    let thinking =
        format!("<think>reasoning of the model</think>\n{}", turn("MARIA THINKS", "Hello."));
    endpoint.script([
        ScriptedAnswer::text("Hello, without a form."),
        ScriptedAnswer::text(thinking),
        ScriptedAnswer::text(turn("SAM THINKS", "I should head out.")),
        ScriptedAnswer::text(says("Bye.")),
        ScriptedAnswer::text("Dear diary."),
        ScriptedAnswer::text(turn("x", "Dear diary, in tags.")),
        ScriptedAnswer::text("I kept his records."),
    ]);
    let scene = place
        .empty()
        .character(Character::new("Maria").profile(material("MARIA")))
        .character(Character::new("Sam").profile(material("SAM")))
        .actors(ModelActors::new(model(&endpoint)))
        .build()
        .unwrap();
    let mut epilogue = scene.run().await.unwrap();
    epilogue.interview("maria", "What did you not say?").await.unwrap();
    let requests = endpoint.requests();
    let instruction = Prompt::Instruction.as_str();
    assert_eq!(roles(&requests[0])[1], ("user".into(), instruction.to_owned()));
    let corrected = roles(&requests[1]);
    assert_eq!(
        corrected[2..],
        [
            ("assistant".to_owned(), "Hello, without a form.".to_owned()),
            ("user".into(), Prompt::Correction.as_str().into())
        ]
    );
    assert_eq!(roles(&requests[2])[1].1, format!("{instruction}\n\nHello."));
    let sams: Vec<_> = [2, 5].iter().flat_map(|at| roles(&requests[*at])).collect();
    assert!(sams.iter().all(|(_, text)| !text.contains("MARIA") && !text.contains("reasoning")));
    let marias: Vec<_> = [3, 4, 6].iter().flat_map(|at| roles(&requests[*at])).collect();
    assert!(marias.iter().any(|(_, text)| text.contains("MARIA THINKS")), "it remembers its own");
    assert!(marias.iter().all(|(_, text)| !text.contains("SAM")));
    assert!(place.read("sam/journal.md").ends_with("Dear diary, in tags.\n"));
    assert!(
        place.read("events.json").contains("MARIA THINKS")
            && !place.read("events.json").contains("reasoning")
    );
}

/// R236, R245
#[tokio::test]
async fn a_killed_scene_goes_on_from_the_histories_that_its_actors_saved() {
    let endpoint = LoopbackLlm::start().await.unwrap();
    let place = Place::new(&[]);
    let actors = || ModelActors::new(model(&endpoint)).saved_in(place.home.path().join("actors"));
    endpoint.script([
        ScriptedAnswer::text(says("Hello.")),
        ScriptedAnswer::text(says("Tea?")),
        ScriptedAnswer { is_mute: true, ..ScriptedAnswer::default() },
    ]);
    // The process dies while the third answer does not come.
    {
        let scene = place.two().actors(actors()).build().unwrap();
        let mut running = Box::pin(scene.run());
        while endpoint.requests().len() < 3 {
            tokio::select! {
                biased;
                _ = &mut running => unreachable!("the third answer never comes"),
                () = tokio::task::yield_now() => {}
            }
        }
    }
    endpoint.script([
        ScriptedAnswer::text(says("I should head out.")),
        ScriptedAnswer::text(says("Bye.")),
        ScriptedAnswer::text("M."),
        ScriptedAnswer::text("S."),
    ]);
    place.two().actors(actors()).build().unwrap().resume().await.unwrap();
    let resumed = roles(&endpoint.requests()[3]);
    let texts: Vec<&str> = resumed.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        texts[2..],
        [&says("Hello."), "Tea?"],
        "what it heard before it remembers, and is told what is new"
    );
    assert!(
        place
            .read("transcript.md")
            .contains("**SAM:** Tea?\n\n**MARIA:** I should head out.\n\n**SAM:** Bye.")
    );
    assert_eq!(files(&place.home.path().join("actors")), ["maria.jsonl", "sam.jsonl"]);
}

#[tokio::test]
async fn a_model_that_fails_aborts_the_scene_and_its_error_is_told() {
    let endpoint = LoopbackLlm::start().await.unwrap();
    endpoint.script([ScriptedAnswer::refusal(401)]);
    let place = Place::new(&[]);
    let error = place
        .two()
        .actors(ModelActors::new(model(&endpoint)))
        .build()
        .unwrap()
        .run()
        .await
        .unwrap_err();
    assert!(error.to_string().contains("the endpoint refuses the request (status 401"), "{error}");
}
