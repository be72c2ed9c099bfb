//! A saved score, in this browser and in librsvg; and the labels of scores and rings where a real typeface draws them.

use std::process::{Command, Stdio};

use base64::Engine as _;
use serde_json::{Value, json};

use crate::Result;
use crate::browser::Visitor;
use crate::server::Server;

/// No label is smaller than 11 px, none lies over another one or is cut by the drawing's edge, and a few say when it was.
pub(crate) async fn labels(visitor: &Visitor, server: &Server) -> Result {
    for channel in ["design-review", "naming-the-queue", "copy-desk"] {
        visitor.open(server, channel).await?;
        let find = "const labels = [...document.querySelectorAll('#score svg text, #ring text')].filter((text) => text.textContent.trim() !== ''); \
                    const small = labels.filter((text) => parseFloat(getComputedStyle(text).fontSize) < 11); \
                    const boxes = labels.map((text) => [text.textContent, text.getBoundingClientRect()]); \
                    const over = boxes.flatMap(([name, a], at) => boxes.slice(at + 1).filter(([, b]) => \
                        a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3).map(([other]) => `${name} and ${other}`)); \
                    const cut = [...document.querySelectorAll('#score svg text')].map((text) => [text, text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()]) \
                        .filter(([, a, all]) => a.left < all.left - 1 || a.right > all.right + 1).map(([text]) => text.textContent); \
                    const times = [...document.querySelectorAll('#score .time')].map((time) => time.textContent); \
                    const strange = times.filter((time) => !/\\d\\d:\\d\\d/.test(time)); \
                    return [labels.length, small.map((text) => text.textContent), over, cut, strange, times.length]";
        let found = visitor.js(find, Vec::new()).await?;
        let is_well = found[0].as_u64() > Some(3)
            && (1..=4).all(|at| found[at] == json!([]))
            && found[5].as_u64() >= Some(2);
        if !is_well {
            return Err(format!(
                "labels of {channel}, those too small, those that overlap, those that are cut, times that are none, times: {found}"
            )
            .into());
        }
    }
    Ok(())
}

/// A saved score has the same shapes and colours in librsvg and in this browser.
pub(crate) async fn looks_the_same(visitor: &Visitor, server: &Server) -> Result {
    let rsvg = |input: &str| {
        Command::new("rsvg-convert").args(["-f", "png", input]).stderr(Stdio::null()).output()
    };
    if rsvg("--version").is_err() {
        println!(
            "skipped: a saved score in librsvg, as rsvg-convert is not installed (Debian: librsvg2-bin)"
        );
        return Ok(());
    }
    visitor.open(server, "design-review").await?;
    let read = "const done = arguments[arguments.length - 1]; \
                fetch(document.querySelector('a[download]').href).then((answer) => answer.text()).then(done)";
    let svg = visitor.client.execute_async(read, Vec::new()).await?;
    let svg = svg.as_str().ok_or("no score was saved")?;
    let folder = std::env::temp_dir().join(format!("score-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("score.svg");
    std::fs::write(&file, svg)?;
    let drawn = rsvg(&file.to_string_lossy());
    std::fs::remove_dir_all(&folder)?;
    let drawn = drawn?.stdout;
    let data = |kind: &str, bytes: &[u8]| {
        format!("data:{kind};base64,{}", base64::engine::general_purpose::STANDARD.encode(bytes))
    };
    let pictures = [data("image/svg+xml", svg.as_bytes()), data("image/png", &drawn)];
    visitor.go("about:blank").await?;
    // Typefaces differ: what is compared are tiles of 8 px, each as its mean colour.
    let compare = "const [one, other, done] = arguments; \
        const load = (from) => new Promise((loaded, failed) => { const image = new Image(); image.onload = () => loaded(image); image.onerror = () => failed('a picture cannot be read'); image.src = from; }); \
        Promise.all([load(one), load(other)]).then((images) => { \
            const [width, height] = [images[0].width, images[0].height]; \
            if (images.some((image) => image.width !== width || image.height !== height)) return done(['sizes differ']); \
            const tiles = images.map((image) => { const canvas = document.createElement('canvas'); \
                [canvas.width, canvas.height] = [Math.ceil(width / 8), Math.ceil(height / 8)]; \
                const pen = canvas.getContext('2d'); pen.imageSmoothingQuality = 'high'; \
                pen.drawImage(image, 0, 0, canvas.width, canvas.height); \
                return pen.getImageData(0, 0, canvas.width, canvas.height).data; }); \
            let [differ, inked] = [0, 0]; \
            for (let at = 0; at < tiles[0].length; at += 4) { \
                const far = [0, 1, 2, 3].some((of) => Math.abs(tiles[0][at + of] - tiles[1][at + of]) > 72); \
                if (far) differ += 1; \
                if ([0, 1, 2].some((of) => tiles[0][at + of] < 200)) inked += 1; } \
            done([null, differ / (tiles[0].length / 4), inked / (tiles[0].length / 4)]); }).catch((why) => done([String(why)]))";
    let compared =
        visitor.client.execute_async(compare, pictures.map(Value::from).to_vec()).await?;
    let (differ, inked) = (compared[1].as_f64(), compared[2].as_f64());
    println!("  of its tiles {differ:?} differ, and {inked:?} have ink");
    if compared[0].is_null() && differ < Some(0.01) && inked > Some(0.02) {
        return Ok(());
    }
    Err(format!("a saved score looks different in librsvg: {compared}").into())
}
