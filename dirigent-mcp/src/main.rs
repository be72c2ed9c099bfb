//! The program `dirigent-mcp`: gives your agent a seat at Dirigent's front, if its client starts MCP servers as
//! programs, for example Claude Code.
//!
//! If your client speaks MCP over HTTP, you do not need this program, because the front offers the tools itself. The
//! program only carries them to standard input and output.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerConfig,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, RequestContext, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::io::stdio;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, RoleServer, ServerHandler, ServiceExt as _};

/// A seat at Dirigent's front, as an MCP server on standard input and output.
#[derive(Debug, Parser)]
#[command(name = "dirigent-mcp", version)]
struct Arguments {
    /// The address of the front. Default: `DIRIGENT_URL`, else `http://127.0.0.1:8131`.
    #[arg(long)]
    url: Option<String>,
    /// The file with the secret, as NAME.SECRET. Default: the variable `DIRIGENT_SECRET` has it.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match carry(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dirigent-mcp: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Carries calls to the front until the client closes standard input.
async fn carry(Arguments { url, secret_file }: Arguments) -> Result<(), Box<dyn Error>> {
    let url = url.or_else(|| std::env::var("DIRIGENT_URL").ok());
    let url = url.unwrap_or_else(|| "http://127.0.0.1:8131".to_owned());
    let secret = match secret_file {
        Some(file) => std::fs::read_to_string(&file).map_err(|error| {
            format!("{} cannot be read ({error}): write NAME.SECRET into it", file.display())
        })?,
        None => std::env::var("DIRIGENT_SECRET").map_err(
            |_| "there is no secret: set DIRIGENT_SECRET to NAME.SECRET, or give --secret-file FILE",
        )?,
    };
    // reqwest uses it for addresses with https.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = StreamableHttpClientTransportConfig::with_uri(format!("{url}/mcp"));
    let config = config.auth_header(secret.trim());
    let front = StreamableHttpClientTransport::from_config(config);
    // The newest protocol here: a client with an older one still gets all that it knows, but not the other way round.
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let front =
        ().serve_with_lifecycle(front, ClientLifecycleMode::Discover { preferred_versions }).await;
    let front = front.map_err(|error| {
        format!("the front at {url} does not let this program in ({error}): does `dirigent run` run, with [front] and this secret?")
    })?;
    let served = Bridge { front }.serve(stdio()).await?;
    served.waiting().await?;
    Ok(())
}

/// Offers the front's tools to the client.
struct Bridge {
    front: RunningService<RoleClient, ()>,
}

impl ServerHandler for Bridge {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::default();
        if let Some(front) = self.front.peer_info() {
            info.capabilities = front.capabilities.clone();
            info.instructions.clone_from(&front.instructions);
        }
        info.server_info = Implementation::new("dirigent-mcp", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.front.list_tools(page).await.map_err(|error| {
            let detail = error.to_string();
            if let ServiceError::McpError(error) = error {
                error
            } else {
                ErrorData::internal_error(detail, None)
            }
        })
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let called = tokio::select! {
            called = self.front.call_tool(call) => called,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("it was cancelled", None)),
        };
        match called {
            Ok(result) => Ok(result.into()),
            Err(ServiceError::McpError(error)) => Err(error),
            // A result, so that the model reads it and can try again.
            Err(error) => {
                let detail =
                    format!("the front does not answer ({error}): try it again in some seconds");
                Ok(CallToolResult::error(vec![ContentBlock::text(detail)]).into())
            }
        }
    }
}
