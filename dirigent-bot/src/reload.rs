//! Changes the configuration while the program runs.

use std::path::Path;

use dirigent::IdentityStore as _;

use crate::bot::{Bot, Result, speaker};
use crate::config::{AgentConfig, BotConfig};
use crate::run::give_modes;

/// Reads the file again. Applies what can change in a running process, and logs what has to wait for the next start.
pub(crate) async fn reload(bot: &mut Bot, path: &Path) {
    let (done, later) = match async { apply(bot, BotConfig::read(path)?.0).await }.await {
        Ok(applied) => applied,
        Err(error) => {
            return tracing::error!("the configuration stays as it was, because of\n{error}");
        }
    };
    tracing::info!("the configuration was read again; changed now: {}", done.join(", "));
    if !later.is_empty() {
        tracing::warn!("this changes with the next start only: {}", later.join(", "));
    }
}

/// Returns the keys that have changed, and those that cannot change yet.
async fn apply(bot: &mut Bot, new: BotConfig) -> Result<(Vec<String>, Vec<String>)> {
    let (mut done, mut later) = (Vec::new(), Vec::new());
    let old = &mut bot.config;
    if old.rules.config != new.rules.config {
        bot.dirigent.reconfigure(new.rules.config.clone()).await?;
        old.rules.config = new.rules.config;
        done.push("rules".to_owned());
    }
    let hosts = old.front.iter_mut().flat_map(|front| &mut front.hosts);
    for host in hosts {
        let fresh = new.front.iter().flat_map(|front| &front.hosts).find(|it| it.name == host.name);
        let Some((gate, fresh)) = bot.front.as_ref().zip(fresh) else { continue };
        if host.secret != fresh.secret
            && gate.set_secrets(&host.name, &[fresh.secret.value.as_str()])?
        {
            host.secret = fresh.secret.clone();
            done.push(format!("the secret of {:?}", host.name));
        }
    }
    let fixed = [
        ("discord", old.discord == new.discord),
        ("store", old.store == new.store),
        ("cluster", old.cluster == new.cluster),
        ("page", old.page == new.page),
        ("front", old.front == new.front),
        ("rules of how it is carried out", old.rules.settings == new.rules.settings),
    ];
    later.extend(fixed.iter().filter(|(_, is_same)| !is_same).map(|(key, _)| (*key).to_owned()));
    for agent in &new.agents {
        let Some(known) = old.agents.iter_mut().find(|it| it.name == agent.name) else {
            later.push(format!("the new agent {:?}", agent.name));
            continue;
        };
        let (model, briefing) = (agent.model.clone(), agent.briefing.clone());
        if (AgentConfig { model, briefing, ..known.clone() }) != *agent {
            later.push(format!("how {:?} takes part", agent.name));
        } else if known != agent {
            if let Some((speaks, face)) = speaker(agent, &|_| None).zip(bot.faces.get(&agent.id()))
            {
                bot.dirigent.host(agent.id(), speaks, face.clone());
            }
            known.clone_from(agent);
            done.push(format!("what speaks for {:?}", agent.name));
        }
    }
    let (stay, gone) = std::mem::take(&mut old.agents)
        .into_iter()
        .partition(|known| new.agents.iter().any(|agent| agent.name == known.name));
    old.agents = stay;
    for agent in gone {
        bot.dirigent.unhost(&agent.id());
        bot.identities.remove(agent.id()).await?;
        bot.dirigent.identities_changed().await?;
        done.push(format!("{:?} is gone", agent.name));
    }
    if old.channels != new.channels {
        let has_no_mode = |id| new.channels.iter().all(|channel| channel.id != id);
        let left = old.channels.iter().filter(|channel| has_no_mode(channel.id));
        later.extend(left.map(|it| {
            format!("channel {}, which keeps its mode until /set-channel-mode", it.id.0)
        }));
        old.channels.clone_from(&new.channels);
        tokio::spawn(give_modes(bot.dirigent.clone(), new.channels));
        done.push("the modes of channels".to_owned());
    }
    Ok((done, later))
}
