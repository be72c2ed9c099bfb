//! A scene in a kitchen, with scripted actors or with a model.
//!
//! `cargo run -p dirigent-scene --example scene -- --isolation b --role C --out DIR` plays it by script. With
//! `--url http://127.0.0.1:8080/v1 --model NAME` you ask a model, with a key from `DIRIGENT_LLM_KEY`. With `--visitor`
//! a third character enters, whispers and leaves. With `--resume` you continue a scene after its process died.
#![expect(clippy::print_stdout, reason = "what came of the scene is the output")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use dirigent_llm::{Chat, Endpoint, ModelMessage, Question};
use dirigent_scene::{
    Audience, Cast, Character, CoordinatorRole, Direction, Director, Epilogue, Isolation, Judge,
    JudgeError, Judgement, Material, ModelActors, Moment, Scene, SceneBuilder, ScriptedActor, Slug,
    SpokenLine, async_trait, present_choices,
};

/// The text that every actor reads first.
const SYSTEM_PROMPT: &str = "You play one character in a scene. Stay in character, and say only what your character says.\n\
    Every answer has exactly this form:\n\n\
    <thinking>\nwhat your character thinks, in a sentence or two; no one hears it\n</thinking>\n\n\
    <speech>\nwhat your character says aloud, in one to three sentences\n</speech>";

fn command() -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let letters = |letters: [&'static str; 3]| {
        clap::builder::PossibleValuesParser::new(
            letters.into_iter().filter(|letter| !letter.is_empty()),
        )
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let count = |name: &'static str, default: &'static str, help: &'static str| {
        text(name, "N", help).default_value(default).value_parser(value_parser!(u32))
    };
    Command::new("scene")
        .about("Plays a scene of two characters, or three. Without both choices it presents them and ends with exit code 2")
        .arg(text("isolation", "LETTER", "How actors are isolated").value_parser(letters(["a", "b", ""])).ignore_case(true))
        .arg(text("role", "LETTER", "Who plays the coordinator").value_parser(letters(["A", "B", "C"])).ignore_case(true))
        .arg(text("out", "DIR", "The folder of the scene").value_parser(value_parser!(PathBuf)))
        .arg(text("url", "URL", "A model's endpoint").requires("model"))
        .arg(text("model", "NAME", "The model's name there").requires("url"))
        .arg(count("soft-cap", "6", "Turns a character, after which an actor is asked to wind down"))
        .arg(count("hard-cap", "8", "Turns a character, after which the scene ends"))
        .arg(count("corrections", "3", "How often one output is corrected"))
        .arg(count("max-tokens", "200", "The longest answer of the model"))
        .arg(flag("grammar", "Holds a model of llama.cpp to the form by a grammar").requires("url"))
        .arg(flag("visitor", "A third character enters, is whispered to, and leaves"))
        .arg(flag("resume", "Goes on with a scene that was killed, in the same folder"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let matches = command().get_matches();
    let letter = |name: &str| matches.get_one::<String>(name).and_then(|text| text.chars().next());
    let isolation = letter("isolation").and_then(Isolation::from_letter);
    let role = letter("role").and_then(CoordinatorRole::from_letter);
    let (Some(isolation), Some(role)) = (isolation, role) else {
        print!("{}", present_choices());
        eprintln!("\nchoose one of each: --isolation a|b and --role A|B|C");
        return ExitCode::from(2);
    };
    let Some(out) = matches.get_one::<PathBuf>("out") else {
        eprintln!("say where the scene is recorded: --out DIR");
        return ExitCode::from(2);
    };
    match play(&matches, Scene::builder(isolation, role), role, out).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scene: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn play(
    matches: &ArgMatches,
    builder: SceneBuilder,
    role: CoordinatorRole,
    out: &PathBuf,
) -> Result<(), Box<dyn std::error::Error>> {
    let number = |name: &str| matches.get_one::<u32>(name).copied().unwrap_or(0);
    let model =
        matches.get_one::<String>("url").map(|url| model(matches, url, number("max-tokens")));
    let mut builder = builder
        .title("Scene 001 — Morning kitchen")
        .setting("A kitchen, early. Rain.")
        .system_prompt(Material::new(SYSTEM_PROMPT))
        .character(maria())
        .character(sam())
        .caps(number("soft-cap"), number("hard-cap"))
        .corrections_max(number("corrections"))
        .picture(true)
        .folder(out);
    if matches.get_flag("visitor") {
        builder = builder.waiting(zoe()).director(Visit);
    }
    if role.wants_judge() {
        builder = builder.judge(ModelJudge(model.clone()));
    }
    let scene = match model {
        Some(model) => builder.actors(ModelActors::new(model).saved_in(out.join("actors"))),
        None => builder.actors(script()),
    };
    let scene = scene.build()?;
    let played = if matches.get_flag("resume") { scene.resume().await } else { scene.run().await };
    tell(played?).await
}

/// Prints the result, after one question to Maria.
async fn tell(mut epilogue: Epilogue) -> Result<(), Box<dyn std::error::Error>> {
    let question = "What did you not say?";
    if let Err(error) = epilogue.interview("maria-stern", question).await {
        eprintln!("no interview: {error}");
    }
    let report = epilogue.close();
    println!(
        "{} after {} turns and {} corrections: {}",
        report.reason,
        report.summary.turns(),
        report.summary.corrections(),
        report.folder.path().display()
    );
    for (slug, why) in &report.missing_entries {
        println!(
            "no journal entry of {slug}: {}",
            why.as_deref().unwrap_or("it has no usable form")
        );
    }
    Ok(())
}

fn model(matches: &ArgMatches, url: &str, max_tokens: u32) -> Chat {
    let name = matches.get_one::<String>("model").map_or("default", String::as_str);
    let mut endpoint = Endpoint::new(url, name).field("max_tokens", max_tokens);
    if matches.get_flag("grammar") {
        endpoint = endpoint.field("grammar", ModelActors::LLAMA_GRAMMAR);
    }
    if let Ok(key) = std::env::var("DIRIGENT_LLM_KEY") {
        endpoint = endpoint.key(key);
    }
    Chat::new(endpoint)
}

fn maria() -> Character {
    Character::new("Maria Stern")
        .profile(Material::new("Maria, 41, is a doctor on night shifts. She is tired and exact, and hides kindness behind jokes."))
        .journal(Material::new("Sam has not called since spring. I told myself that I do not mind."))
        .perspective(Material::new("It is seven in the morning. There is a knock at the door: Sam. You speak first, and open."))
}

fn sam() -> Character {
    Character::new("Sam Reed")
        .profile(Material::new(
            "Sam, 38, a musician, owes Maria money and an apology, and starts with the weather.",
        ))
        .perspective(Material::new(
            "You stand at Maria's door in the rain. You want to apologise before you lose courage.",
        ))
}

fn zoe() -> Character {
    Character::new("Zoe")
        .profile(Material::new("Zoe, 9, is Maria's daughter. She notices everything."))
        .perspective(Material::new("You come into the kitchen for breakfast. A man sits there."))
}

/// Zoe comes in after the second speech, and leaves after four more. Only her mother hears the first thing that she
/// says.
struct Visit;

impl Director for Visit {
    fn before_turn(&mut self, moment: &Moment) -> Vec<Direction> {
        let Ok(zoe) = Slug::new("zoe") else {
            return Vec::new();
        };
        let is_here = moment.present.contains(&zoe);
        match moment.speeches {
            2 => vec![Direction::Enter(zoe)],
            8.. if is_here => vec![Direction::Leave(zoe)],
            _ => Vec::new(),
        }
    }

    fn audience(&mut self, line: &SpokenLine, _: &Moment) -> Audience {
        let is_whisper = line.speaker.slug().as_str() == "zoe";
        match Slug::new("maria-stern") {
            Ok(maria) if is_whisper => Audience::Only(vec![maria]),
            _ => Audience::Everyone,
        }
    }
}

fn turn(thinking: &str, speech: &str) -> String {
    format!("<thinking>\n{thinking}\n</thinking>\n\n<speech>\n{speech}\n</speech>")
}

/// The actors' turns without a model. Sam forgets the form once, and is corrected.
fn script() -> Cast {
    let maria = [
        turn("A knock, at seven? I set the tea down.", "*[opens the door]* Hi, come in."),
        turn("He talks about rain when he is afraid.", "You came through it to tell me about it?"),
        turn(
            "There it is. I did not expect to mind this little.",
            "It was the money that I forgave first.",
        ),
        turn("He looks lighter. I should let him go.", "Take the umbrella. You can bring it back."),
        turn("And do come back.", "Mind the step."),
        turn("Well.", "Go, before it clears up."),
    ];
    let sam = [
        turn("Say it. Say it now.", "It is raining."),
        "I came to say that I am sorry.".to_owned(),
        turn("Out with it.", "I came to say that I am sorry."),
        turn("She smiles. She actually smiles.", "And the rest?"),
        turn("That is more than I deserve.", "I will. I should head out."),
        turn("The umbrella is green.", "Safe travels, as they say."),
    ];
    let zoe = [
        turn("Who is he?", "*[whispers]* Mama, is that the man with the guitar?"),
        turn("He looks sad.", "*[whispers]* He is sad."),
        turn("Breakfast.", "*[whispers]* Is there toast?"),
    ];
    Cast::new()
        .actor("maria-stern", move || {
            ScriptedActor::new(maria)
                .journal("He came. I had a speech ready, and gave him an umbrella.")
                .interview("That I kept his records.")
        })
        .actor("sam-reed", move || {
            ScriptedActor::new(sam).journal("I said it. It took the whole of a kitchen.")
        })
        .actor("zoe", move || {
            ScriptedActor::new(zoe).journal("A man was in the kitchen. Mama laughed.")
        })
}

/// Asks the model whether the scene has ended. Without a model the scene goes on.
struct ModelJudge(Option<Chat>);

#[async_trait]
impl Judge for ModelJudge {
    async fn has_ended(&mut self, line: &SpokenLine) -> Result<Judgement, JudgeError> {
        let Some(model) = &self.0 else {
            return Ok(Judgement::GoesOn);
        };
        let question = format!(
            "Does this line end a conversation? Answer YES or NO.\n\n{}",
            line.speech.as_str()
        );
        let answer = model.ask(&Question::new([ModelMessage::user(question)])).await;
        let answer = answer.map_err(|error| JudgeError::new(error.to_string()))?;
        Ok(if answer.text.starts_with("YES") { Judgement::Ended } else { Judgement::GoesOn })
    }
}
