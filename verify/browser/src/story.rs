//! What a person does with the page.

use std::path::Path;

use fantoccini::Locator;
use serde_json::json;

use crate::Result;
use crate::browser::Visitor;
use crate::server::{OPERATOR, Server, VIEWER};

/// All of it, in order: each part says what it is before it begins.
pub(crate) async fn all(visitor: &Visitor, server: &Server, recording: &Path) -> Result {
    println!("a wrong token is refused, the right one signs in");
    sign_in(visitor, server).await?;
    println!("the overview shows who needs a person first, and no name runs a script");
    overview(visitor, server).await?;
    println!("filters count at once, rows are sorted and denser, and keys are listed");
    filter_and_sort(visitor, server).await?;
    println!("a mode is changed, and a locked channel offers none");
    change_a_mode(visitor, server).await?;
    println!("the speaker moves without a reload");
    see_the_speaker_move(visitor, server).await?;
    println!("beside each silent agent stands why");
    read_why(visitor, server).await?;
    println!("a channel is held, resumed, and an agent is muted");
    steer(visitor, server).await?;
    println!("a channel that fell silent says why, and is started again");
    start_again(visitor, server).await?;
    println!("what was delegated is shown as it goes on");
    see_work(visitor, server).await?;
    println!("what of a discussion cannot be posted is told");
    read_the_outbox(visitor, server).await?;
    println!("a text is posted as the moderator");
    post_as_the_moderator(visitor, server).await?;
    println!("an agent has a page of its own");
    read_an_agents_page(visitor, server).await?;
    println!("a refused order is told");
    be_refused(visitor, server).await?;
    println!("a damaged record is told, and the channel begins anew");
    mend(visitor, server).await?;
    println!("an agent is added, renamed and deleted, and ego.json is scanned");
    registry(visitor, server).await?;
    println!("the room's recording is scrubbed, and one from a file");
    replay(visitor, server, recording).await?;
    println!("the keyboard reaches the content first");
    keyboard(visitor, server).await?;
    println!("a viewer sees no controls");
    view(visitor, server, recording).await
}

/// What differs on a phone.
pub(crate) async fn on_a_phone(visitor: &Visitor, server: &Server) -> Result {
    println!(
        "on a phone the score keeps its names, fields say what they are, and nothing is wider than the screen"
    );
    visitor.sign_in(server, OPERATOR).await?;
    visitor.open(server, "naming-the-queue").await?;
    let long = "return document.querySelector('#score .score')?.clientWidth > 500";
    visitor.until("a score that is wider than the phone", long).await?;
    let seen = "const sheet = document.getElementById('score'); sheet.scrollLeft = 200; const frame = sheet.getBoundingClientRect(); \
                return [...sheet.querySelectorAll('.names span')].map((name) => { const box = name.getBoundingClientRect(); \
                const top = document.elementFromPoint(box.right - 20, box.top + box.height / 2); \
                return box.left >= frame.left && box.right <= frame.right && top === name; }).every(Boolean) && sheet.scrollLeft === 200";
    let centre = "document.getElementById('score').scrollIntoView({ block: 'center' })";
    visitor.js(centre, Vec::new()).await?;
    visitor.until("the names of the score after it was scrolled", seen).await?;
    let is_narrow = "return document.documentElement.scrollWidth <= innerWidth";
    visitor.until("a page as wide as the screen", is_narrow).await?;
    visitor.open(server, "where-to-move").await?;
    visitor
        .until("where a result can be sent", "return document.getElementById('send-to')")
        .await?;
    visitor.until("a page as wide as the screen", is_narrow).await?;
    visitor.go(&format!("{}/agents/architect", server.page)).await?;
    // A table without a head: each number says what it is.
    let named = "const cells = [...document.querySelectorAll('.log td')].filter((cell) => /^[0-9]+$/.test(cell.textContent)); \
                 return cells.length > 5 && cells.every((cell) => getComputedStyle(cell, '::before').content.length > 5)";
    visitor.until("a name at each number", named).await?;
    visitor.until("a page as wide as the screen", is_narrow).await?;
    visitor.go(&format!("{}/registry", server.page)).await?;
    let labels = "return [...document.querySelectorAll('.registry .field')].filter((label) => label.offsetHeight > 0).length >= 10";
    visitor.until("a label at each field", labels).await?;
    visitor.until("a page as wide as the screen", is_narrow).await?;
    visitor.is_accessible("the registry, on a phone").await
}

async fn sign_in(visitor: &Visitor, server: &Server) -> Result {
    visitor.go(&server.page).await?;
    visitor.is_accessible("the sign-in form").await?;
    visitor.fill("#token", "a wrong token").await?;
    visitor.click("button").await?;
    visitor
        .until(
            "the refusal",
            "return document.getElementById('said')?.textContent === 'This token is not known.'",
        )
        .await?;
    visitor.sign_in(server, OPERATOR).await
}

async fn overview(visitor: &Visitor, server: &Server) -> Result {
    visitor.go(&server.page).await?;
    let first =
        "return document.querySelector('.guild th').textContent.startsWith('Needs a person')";
    visitor.until("those that need a person first", first).await?;
    visitor
        .until(
            "the name as a text",
            "return document.body.innerText.includes('<script>alert(1)</script>')",
        )
        .await?;
    Ok(())
}

/// Filters count while they are filled in, the list goes on by itself, and keys do what `?` lists.
async fn filter_and_sort(visitor: &Visitor, server: &Server) -> Result {
    visitor.go(&server.page).await?;
    visitor.js("window.notReloaded = true", Vec::new()).await?;
    visitor.fill("input[name=find]", "design").await?;
    let one = "return window.notReloaded && document.querySelectorAll('.who').length === 1 && \
               location.search === '?find=design' && document.activeElement.name === 'find'";
    visitor.until("one channel, and the field that is being filled in", one).await?;
    visitor.fill("input[name=find]", "").await?;
    let choose = |sort: &str| {
        format!(
            "const select = document.querySelector('select[name=sort]'); select.value = '{sort}'; \
             select.dispatchEvent(new Event('input', {{ bubbles: true }}))"
        )
    };
    visitor.js(&choose("name"), Vec::new()).await?;
    let sorted = "const names = [...document.querySelectorAll('.who a')].map((a) => a.textContent.toLowerCase()); \
                  return names.length > 5 && names.every((name, at) => at === 0 || names[at - 1] <= name)";
    visitor.until("channels by name", sorted).await?;
    let since = "return document.querySelector('time[data-since]')?.textContent.match(/^for [0-9]+ (s|min)$/)";
    visitor.until("since when a channel is so", since).await?;
    visitor.js("window.before = document.querySelector('#summary').innerHTML + document.querySelector('#list').innerHTML", Vec::new()).await?;
    let goes_on = "return document.getElementById('pulse').textContent === 'live' && \
                   document.querySelector('#summary').innerHTML + document.querySelector('#list').innerHTML !== window.before";
    visitor.until("a list that goes on by itself", goes_on).await?;
    visitor.until("channels by name", sorted).await?;
    visitor.js("document.activeElement.blur()", Vec::new()).await?;
    let body = visitor.client.find(Locator::Css("body")).await?;
    let height = "return document.querySelector('#list tr[id]').offsetHeight";
    let before = visitor.js(height, Vec::new()).await?;
    body.send_keys("d").await?;
    let denser = format!("{height} < {before} && document.getElementById('dense').checked");
    visitor.until("denser rows", &denser).await?;
    visitor.go(&server.page).await?;
    visitor
        .until("denser rows after a reload", "return document.getElementById('dense').checked")
        .await?;
    let body = visitor.client.find(Locator::Css("body")).await?;
    body.send_keys("d").await?;
    body.send_keys("jj").await?;
    let second = "return document.activeElement === document.querySelectorAll('.who a')[1]";
    visitor.until("the second channel", second).await?;
    body.send_keys("?").await?;
    visitor.until("the list of keys", "return document.getElementById('keys').open").await?;
    visitor.is_accessible("the list of keys").await
}

async fn change_a_mode(visitor: &Visitor, server: &Server) -> Result {
    visitor.go(&server.page).await?;
    let choose = "const row = [...document.querySelectorAll('tr')].find((row) => row.querySelector('.who a')?.textContent === 'quiet-corner'); \
                  const select = row.querySelector('select'); select.focus(); select.id = 'chosen'; select.form.querySelector('button').id = 'set'; return select.options.length";
    let offered = visitor.js(choose, Vec::new()).await?;
    if offered != json!(3) {
        return Err(format!("{offered} modes are offered").into());
    }
    // A key only chooses.
    let select = visitor.client.find(Locator::Css("#chosen")).await?;
    select.send_keys("r").await?;
    visitor
        .until("a way to set it", "return document.getElementById('set').offsetWidth > 0")
        .await?;
    let unsent = "const row = document.getElementById('chosen').closest('tr'); \
                  return row.querySelector('.turns').textContent !== 'dead'";
    visitor.until("the mode as it was", unsent).await?;
    visitor.click("#set").await?;
    let dead = "const row = [...document.querySelectorAll('tr')].find((row) => row.querySelector('.who a')?.textContent === 'quiet-corner'); \
                return row.querySelector('.turns').textContent === 'dead'";
    visitor.until("the new mode, live", dead).await?;
    let damaged = "const row = [...document.querySelectorAll('tr')].find((row) => row.querySelector('.who a')?.textContent === 'release-notes'); \
                   return row.querySelector('select') === null && row.querySelector('.badge').textContent === 'unknown'";
    visitor
        .until("a damaged channel without a choice that would begin it anew unasked", damaged)
        .await?;
    let locked = "const row = [...document.querySelectorAll('tr')].find((row) => row.querySelector('.who a')?.textContent === 'architects-desk'); \
                  return row.querySelector('select') === null && row.querySelector('.badge').textContent === 'work'";
    visitor.until("a locked channel without a choice", locked).await?;
    Ok(())
}

async fn see_the_speaker_move(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "design-review").await?;
    visitor.js("window.notReloaded = true", Vec::new()).await?;
    let press = "window.pressed = document.querySelector('.agents button'); \
                 window.pressed.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))";
    visitor.js(press, Vec::new()).await?;
    let thinking =
        "return document.querySelector('.says')?.textContent.match(/^(\\w+) is thinking/)?.[1]";
    let first = visitor.until("a speaker", thinking).await?;
    let next = format!(
        "const now = document.querySelector('.says')?.textContent.match(/^(\\w+) is thinking/)?.[1]; return now && now !== {first} ? now : ''"
    );
    visitor.until("another speaker", &next).await?;
    visitor.until("no reload", "return window.notReloaded === true").await?;
    let holds = "return document.body.contains(window.pressed)";
    visitor.until("the button that is pressed, still there to be released", holds).await?;
    let release = "window.pressed.dispatchEvent(new PointerEvent('pointerup', { bubbles: true }))";
    visitor.js(release, Vec::new()).await?;
    let anew = "return !document.body.contains(window.pressed)";
    visitor.until("the part with that button, drawn anew", anew).await?;
    visitor
        .until(
            "the score with speech",
            "return document.querySelectorAll('#score .speech').length > 0",
        )
        .await?;
    Ok(())
}

async fn read_why(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "design-review").await?;
    let why = "return [...document.querySelectorAll('.agents .why')].map((why) => why.textContent).find((why) => why.includes('may not speak: '))";
    visitor.until("why an agent is silent", why).await?;
    let said = "return document.querySelectorAll('.messages li').length > 1 && \
                document.querySelector('.messages a').href.startsWith('https://discord.com/channels/')";
    visitor.until("what was said, with a link", said).await?;
    visitor.js("window.said = document.querySelector('.messages li')", Vec::new()).await?;
    visitor.click("[data-again]").await?;
    let again = "return !document.body.contains(window.said) && document.querySelectorAll('.messages li').length > 1";
    visitor.until("what was said, read again without a reload", again).await?;
    let thinks =
        "return document.querySelector('.agents .speaks time')?.textContent.startsWith('for ')";
    visitor.until("for how long the agent has been thinking", thinks).await?;
    visitor.is_accessible("one channel").await
}

async fn steer(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "design-review").await?;
    visitor
        .until("a way to hold", "return document.querySelector('#order-hold:enabled') !== null")
        .await?;
    visitor.click("#order-hold").await?;
    visitor
        .until(
            "the hold",
            "return document.querySelector('.says')?.textContent === 'The channel is on hold.'",
        )
        .await?;
    visitor.click("#order-resume").await?;
    visitor
        .until("the resume", "return document.querySelector('#order-hold:enabled') !== null")
        .await?;
    let mute = "const button = [...document.querySelectorAll('.agents button')].find((button) => button.textContent === 'Mute'); button.click(); return button.getAttribute('aria-label')";
    visitor.js(mute, Vec::new()).await?;
    visitor.until("the mute", "return [...document.querySelectorAll('.agents button')].some((button) => button.textContent === 'Unmute')").await?;
    let unmute = "[...document.querySelectorAll('.agents button')].find((button) => button.textContent === 'Unmute').click()";
    visitor.js(unmute, Vec::new()).await?;
    visitor.until("the unmute", "return [...document.querySelectorAll('.agents button')].every((button) => button.textContent !== 'Unmute')").await?;
    Ok(())
}

async fn start_again(visitor: &Visitor, server: &Server) -> Result {
    let asks = "const row = [...document.querySelectorAll('tr')].find((row) => row.querySelector('.who a')?.textContent === 'copy-desk'); \
                return row.querySelector('.needs')?.textContent.includes('An agent asks for a person')";
    visitor.go(&server.page).await?;
    visitor.until("that a person is needed", asks).await?;
    visitor.open(server, "copy-desk").await?;
    let why = "return document.querySelector('.says').textContent.startsWith('An agent asked for a person') && \
               document.querySelector('.advice').textContent.includes('Wake does so now')";
    visitor.until("why it is silent, and what helps", why).await?;
    let main = "return document.querySelector('#orders button.main')?.textContent === 'Wake'";
    visitor.until("the order that helps before the others", main).await?;
    visitor.click("#order-wake").await?;
    visitor
        .until(
            "an agent that thinks",
            "return document.querySelector('.says')?.textContent.includes('is thinking')",
        )
        .await?;
    Ok(())
}

async fn see_work(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "design-review").await?;
    let told = "return document.querySelector('ul.works li')?.textContent.startsWith('research')";
    visitor.until("what works for the channel", told).await?;
    visitor
        .js("window.before = document.querySelector('ul.works li > bdi').textContent", Vec::new())
        .await?;
    let further =
        "return document.querySelector('ul.works li > bdi').textContent !== window.before";
    visitor.until("that it has come further", further).await?;
    Ok(())
}

async fn read_the_outbox(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "where-to-move").await?;
    let given_up = "return document.querySelector('.outbox .warn')?.textContent.includes('The result was given up')";
    visitor.until("a result that was given up", given_up).await?;
    visitor.is_accessible("a discussion whose result cannot be posted").await?;
    let choose = "const select = document.getElementById('send-to'); \
                  select.value = [...select.options].find((option) => option.textContent === 'quiet-corner').value";
    visitor.js(choose, Vec::new()).await?;
    visitor.click("#send").await?;
    let asked = visitor.question().await?;
    if !asked.contains("to quiet-corner? Who can read it there: ") {
        return Err(format!("the question does not name who can read there: {asked}").into());
    }
    visitor.say_yes().await?;
    let empty =
        "return document.getElementById('facts')?.textContent.includes('empty: all was posted')";
    visitor.until("a result that was sent elsewhere", empty).await?;
    Ok(())
}

/// A text is posted as the moderator, and stands among what was said.
async fn post_as_the_moderator(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "quiet-corner").await?;
    visitor
        .until(
            "the result that was sent here",
            "return document.querySelector('.messages .text')?.textContent.includes('Discussion')",
        )
        .await?;
    visitor.fill("#text", "We are <b>on it</b>.").await?;
    visitor.click("#post-now").await?;
    let posted = "return document.querySelector('.messages .text')?.textContent === 'We are <b>on it</b>.' && \
                  document.getElementById('text').value === ''";
    visitor.until("the text among what was said", posted).await?;
    visitor.is_accessible("a channel in which the moderator wrote").await
}

/// An agent's own page is a click away from its channel.
async fn read_an_agents_page(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "design-review").await?;
    visitor.click(".agents strong a").await?;
    let turns = "return location.pathname.includes('/agents/') && \
                 [...document.querySelectorAll('main h2')].map((h) => h.textContent).join() === 'Channels,Turns by day,Failures' && \
                 Number(document.querySelectorAll('table')[1].rows[1].cells[1].textContent) > 0";
    visitor.until("the agent's turns by day", turns).await?;
    visitor.is_accessible("an agent's page").await
}

/// The page hides what is locked; a request that is sent all the same is refused, and the page says so.
async fn be_refused(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "architects-desk").await?;
    let forge = "const form = document.createElement('form'); form.method = 'post'; form.action = location.pathname; form.dataset.order = ''; \
                 form.innerHTML = '<input name=order value=set-mode><input name=mode value=chat><button id=forged>x</button>'; \
                 document.querySelector('main').append(form)";
    visitor.js(forge, Vec::new()).await?;
    visitor.click("#forged").await?;
    visitor
        .until(
            "the refusal",
            "return document.getElementById('said').textContent.includes('locked')",
        )
        .await?;
    Ok(())
}

async fn mend(visitor: &Visitor, server: &Server) -> Result {
    visitor.open(server, "release-notes").await?;
    visitor
        .until(
            "the damage",
            "return document.querySelector('.says')?.textContent.includes('damaged')",
        )
        .await?;
    visitor.is_accessible("a damaged channel").await?;
    let choose = "const select = document.getElementById('mode'); select.focus(); select.value = 'chat'; select.dispatchEvent(new Event('change', { bubbles: true }))";
    visitor.js(choose, Vec::new()).await?;
    visitor.click("#begin-anew").await?;
    visitor.say_yes().await?;
    visitor
        .until(
            "a channel that begins anew",
            "return document.querySelector('.says')?.textContent === 'Quiet until a person writes.'",
        )
        .await?;
    // What a reload would show is there, and was not before.
    let sections = "return ['score', 'changes', 'facts'].every((id) => document.getElementById(id).checkVisibility())";
    visitor.until("its score, its changes and how it stands", sections).await?;
    Ok(())
}

async fn registry(visitor: &Visitor, server: &Server) -> Result {
    let page = format!("{}/registry", server.page);
    visitor.go(&page).await?;
    visitor.fill("input[name=account][form=new]", &server.spare).await?;
    visitor.fill("input[name=agent][form=new]", "apprentice").await?;
    visitor.fill("input[name=name][form=new]", "Apprentice").await?;
    visitor.click(".new .main").await?;
    let row = "return [...document.querySelectorAll('.registry .id')].some((id) => id.textContent === 'apprentice')";
    visitor.until("the new agent", row).await?;
    visitor.fill("input[aria-label='Name of apprentice']", "The Apprentice").await?;
    visitor.click("button[aria-label='Save apprentice']").await?;
    visitor.until("the new name", "return document.querySelector(\"input[aria-label='Name of apprentice']\")?.defaultValue === 'The Apprentice'").await?;
    // Where the fields of the row stand, seen from its first one.
    let places = "const row = document.querySelector(\"input[aria-label='Account of apprentice']\").closest('tr'); \
                  const all = [...row.querySelectorAll('input:not([type=hidden]), a, button')].map((it) => it.getBoundingClientRect()); \
                  return all.map((it) => `${Math.round(it.x)} ${Math.round(it.y - all[0].y)} ${Math.round(it.width)}`).join(', ')";
    let before = visitor.js(places, Vec::new()).await?;
    visitor.fill("input[aria-label='Account of apprentice']", "12").await?;
    visitor.click("button[aria-label='Save apprentice']").await?;
    visitor.until("the refusal of a bad account", "return document.querySelector(\"input[aria-label='Account of apprentice']\")?.parentNode.textContent.includes('15 to 20 decimal digits')").await?;
    let after = visitor.js(places, Vec::new()).await?;
    if before != after {
        return Err(format!("the refusal moves the row: {before}, {after}").into());
    }
    let zone = "return document.getElementById('zone').textContent === Intl.DateTimeFormat().resolvedOptions().timeZone";
    visitor.until("the zone of its times", zone).await?;
    visitor.go(&page).await?;
    visitor.click("button[value=scan]").await?;
    visitor
        .until(
            "the report",
            "return document.querySelector('.report')?.textContent.includes('Unchanged')",
        )
        .await?;
    visitor.is_accessible("the registry").await?;
    visitor.click("button[aria-label='Delete apprentice']").await?;
    visitor.say_yes().await?;
    visitor.until("it is gone", &row.replace("return ", "return !")).await?;
    Ok(())
}

async fn replay(visitor: &Visitor, server: &Server, recording: &Path) -> Result {
    visitor.open(server, "design-review").await?;
    visitor.click(".links a[href$='/replay']").await?;
    let stands = "return document.querySelector('.replay .stands')?.textContent";
    visitor.until("the replay", stands).await?;
    visitor.is_accessible("the replay").await?;
    visitor.go(&format!("{}/replay", server.page)).await?;
    let file = visitor.client.find(Locator::Id("recording")).await?;
    file.send_keys(&recording.to_string_lossy()).await?;
    visitor.until("the file's replay", stands).await?;
    let slider = visitor.client.find(Locator::Css("input[type=range]")).await?;
    for _ in 0..60 {
        slider.send_keys("\u{e014}").await?; // The arrow to the right.
        let told =
            visitor.js("return document.querySelector('.events').textContent", Vec::new()).await?;
        if told.as_str().is_some_and(|told| told.contains("denied")) {
            let why = "return document.querySelector('.events .denied').textContent";
            let why = visitor.js(why, Vec::new()).await?;
            println!("  {}", why.as_str().unwrap_or_default());
            return Ok(());
        }
    }
    Err("no step of the recording shows who was denied".into())
}

async fn keyboard(visitor: &Visitor, server: &Server) -> Result {
    visitor.go(&server.page).await?;
    let body = visitor.client.find(Locator::Css("body")).await?;
    body.send_keys("\u{e004}").await?; // Tab.
    visitor
        .until("the link to the content", "return document.activeElement.className === 'skip'")
        .await?;
    Ok(())
}

async fn view(visitor: &Visitor, server: &Server, recording: &Path) -> Result {
    visitor.click("form[action$='/sign-out'] button").await?;
    visitor.until("the sign-in form", "return document.getElementById('token') !== null").await?;
    visitor.sign_in(server, VIEWER).await?;
    visitor
        .until(
            "no controls",
            "return document.querySelectorAll('main select[data-send], [data-order]').length === 0",
        )
        .await?;
    visitor.open(server, "design-review").await?;
    visitor
        .until("no controls", "return document.querySelectorAll('main button').length === 0")
        .await?;
    visitor.is_accessible("one channel, for a viewer").await?;
    println!("a viewer scrubs a recording from a file");
    visitor.click("nav a[href$='/replay']").await?;
    let file = visitor.client.find(Locator::Id("recording")).await?;
    file.send_keys(&recording.to_string_lossy()).await?;
    let stands = "return document.querySelector('.replay .stands')?.textContent";
    visitor.until("the file's replay", stands).await?;
    Ok(())
}
