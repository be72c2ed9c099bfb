//! Draws a page in parts, once for all its visitors.

use dirigent::operate::Cause;
use dirigent::{CallError, ChannelId};

use crate::page::auth::VisitorRole;
use crate::page::drawn::{Region, RowGroup, Sheet, Shown, Subject};
use crate::page::look::Query;
use crate::page::made_once::{Freshness, Moment};
use crate::page::pages::{Nothing, RowCells, Summary, Turning, channel_parts, drawn};
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

impl PageContext {
    /// Draws a page in parts, or returns a drawing from just now.
    pub(crate) async fn sheet(
        &self,
        shown: Shown,
        role: VisitorRole,
        freshness: Freshness,
    ) -> Result<std::sync::Arc<Sheet>, Problem> {
        let once = self.drawn.sheet((shown.clone(), role));
        // The future is boxed because it is large, and every open stream has room for it.
        let draw = Box::pin(self.draw(&shown, role, freshness));
        once.get(freshness, || self.moment(), draw).await
    }

    /// Returns the time, and a number that rises with each event.
    pub(crate) fn moment(&self) -> Moment {
        let tally = self.dirigent.tally();
        let changes: u64 = Cause::ALL.iter().map(|cause| tally.changes(*cause)).sum();
        let version = changes.wrapping_add(tally.reports()).wrapping_add(*self.orders.borrow());
        Moment { version, at: self.clock.now() }
    }

    /// Returns true if the driver has ended, so that no page changes again.
    pub(crate) async fn has_ended(&self) -> bool {
        // The question is about a channel that never exists, so the driver reads no store for it.
        let asked = self.dirigent.channel(ChannelId::new(u64::MAX)).status().await;
        matches!(asked, Err(CallError::Ended(_)))
    }

    async fn draw(
        &self,
        shown: &Shown,
        role: VisitorRole,
        freshness: Freshness,
    ) -> Result<Sheet, Problem> {
        self.drawn.count();
        match shown {
            Shown::Overview(query) => self.draw_overview(query, role, freshness).await,
            Shown::Channel(id) => {
                let sheet = self.across().sheet(*id).await?;
                let parts =
                    channel_parts(&self.base, &sheet.look, &sheet.score, role.may_change())?;
                let part = |(id, html): (&str, String)| Region::new(id.to_owned(), html);
                let parts = parts.into_iter().map(part).collect();
                Ok(Sheet::new(parts, Subject::Channel(Box::new(sheet))))
            }
        }
    }

    async fn draw_overview(
        &self,
        query: &Query,
        role: VisitorRole,
        freshness: Freshness,
    ) -> Result<Sheet, Problem> {
        let (base, may_change) = (&self.base, role.may_change());
        let look = self.across().overview(query, freshness).await?;
        let shows_guild = query.heading().is_some();
        let row_id = |id: &str| format!("c-{id}");
        let groups = look.groups(query).into_iter().map(|group| RowGroup {
            heading: group.heading,
            rows: group.rows.iter().map(|row| row_id(&row.id)).collect(),
        });
        let mut parts = vec![
            Region::new("summary".to_owned(), drawn(&Summary { look: &look })?),
            Region::new("none".to_owned(), drawn(&Nothing { base, look: &look })?),
            Region::order("list".to_owned(), groups.collect()),
        ];
        for row in &look.channels {
            let row = &row.clone().brief();
            let cells = RowCells { base, row, may_change, shows_guild };
            parts.push(Region::new(row_id(&row.id), drawn(&cells)?));
        }
        let turning = drawn(&Turning { base, query, look: &look })?;
        parts.push(Region::new("pages".to_owned(), turning));
        Ok(Sheet::new(parts, Subject::Overview(Box::new(look))))
    }
}
