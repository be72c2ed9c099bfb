//! Slugs of names in any script.

use dirigent_scene::{Character, Slug};
use proptest::prelude::*;

use crate::fixture::{Place, files, says};

/// SC5
#[test]
fn names_in_any_script_have_slugs() {
    let names = [
        ("Maria Stern", "maria-stern"),
        ("Zoë", "zoe"),
        ("Zoe\u{308}", "zoe"),
        ("Jürgen Groß", "jurgen-gross"),
        ("O'Brien", "o-brien"),
        ("Łukasz", "lukasz"),
        ("张伟", "zhang-wei"),
        ("さくら", "sakura"),
        ("김민준", "gimminjun"),
        ("Мария", "mariia"),
        ("Ελένη", "elene"),
        ("R2-D2", "r2-d2"),
    ];
    for (name, slug) in names {
        assert_eq!(Slug::of_name(name).map(|it| it.to_string()).as_deref(), Ok(slug), "{name}");
    }
    // Whatever the spelling of these is, they have one.
    let others = [
        "שרה",
        "فاطمة",
        "मरिया",
        "மரியா",
        "มาเรีย",
        "მარია",
        "Մարիա",
        "ማርያም",
        "ᠮᠣᠩᠭᠣᠯ",
        "ꦩꦫꦶꦪ",
        "𞤀𞤁𞤂",
        "𒀀𒀁",
        "🎭",
        "ｓａｍ",
    ];
    for name in others {
        let slug = Slug::of_name(name);
        assert!(slug.is_ok_and(|slug| Slug::new(slug.as_str()) == Ok(slug.clone())), "{name}");
    }
    for name in ["", " ", "…", "!!!", "Coordinator", "ＣＯＯＲＤＩＮＡＴＯＲ"] {
        assert!(Slug::of_name(name).is_err(), "{name}");
    }
    assert_eq!(
        Slug::of_name(&"ab ".repeat(40)).unwrap().as_str().len(),
        Slug::MAX,
        "cut within the limit"
    );
}

proptest! {
    /// SC5
    #[test]
    fn whatever_has_a_letter_has_a_slug(name in "\\PC{0,100}") {
        if let Ok(slug) = Slug::of_name(&name) {
            prop_assert_eq!(Slug::new(slug.as_str()).unwrap(), slug);
        } else {
            let letters = name.chars().filter(|c| c.is_alphanumeric()).count();
            prop_assert!(letters == 0 || letters == "coordinator".len(), "{}", name);
        }
    }
}

/// SC5
#[tokio::test]
async fn a_scene_of_names_in_other_scripts_needs_no_slug_by_hand() {
    let place = Place::new(&[
        ("zhang-wei", vec![says("你好。"), says("再见。")]),
        ("zoe", vec![says("一路平安。")]),
    ]);
    // A folder that is called like its character.
    let folder = place.home.path().join("张伟");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("profile.md"), "医生。").unwrap();
    let scene = place
        .empty()
        .character(Character::from_folder("张伟", &folder).unwrap())
        .character(Character::new("Zoë"));
    let epilogue = scene.build().unwrap().run().await.unwrap();
    assert_eq!(epilogue.report().reason.as_str(), "natural");
    assert!(place.read("transcript.md").contains("**ZOË:** 一路平安。"));
    assert_eq!(
        files(&place.folder()),
        ["events.json", "notes.md", "transcript.md", "zoe/journal.md"]
    );
    assert!(std::fs::read_to_string(folder.join("journal.md")).unwrap().contains("Dear diary"));
}
