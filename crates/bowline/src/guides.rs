//! Doc tests for the README and the guides in `docs/guides`: their code must compile
//! and run.
//!
//! Most of it talks to a small server in the same process, which the blocks include
//! from `docs/guides/demo.in`; the guide to testing servers includes its own server
//! from `docs/guides/booking.in`, and that on tasks from `docs/guides/studio.in`.

#[cfg(feature = "macros")]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[doc = include_str!("../../../docs/guides/getting-started.md")]
struct GettingStarted;

#[doc = include_str!("../../../docs/guides/errors-and-recovery.md")]
struct ErrorsAndRecovery;

#[doc = include_str!("../../../docs/guides/notifications.md")]
struct Notifications;

#[doc = include_str!("../../../docs/guides/many-servers.md")]
struct ManyServers;

#[doc = include_str!("../../../docs/guides/telemetry.md")]
struct Telemetry;

#[cfg(feature = "macros")]
#[doc = include_str!("../../../docs/guides/write-a-server.md")]
struct WriteAServer;

#[cfg(all(feature = "testing", feature = "macros"))]
#[doc = include_str!("../../../docs/guides/testing-servers.md")]
struct TestingServers;

#[cfg(feature = "macros")]
#[doc = include_str!("../../../docs/guides/tasks.md")]
struct Tasks;

#[cfg(feature = "http-client")]
#[doc = include_str!("../../../docs/guides/remote-servers.md")]
struct RemoteServers;

#[cfg(all(feature = "auth", feature = "http-client"))]
#[doc = include_str!("../../../docs/guides/signing-in.md")]
struct SigningIn;

#[cfg(feature = "http-server")]
#[doc = include_str!("../../../docs/guides/serving-over-http.md")]
struct ServingOverHttp;

#[cfg(all(feature = "auth", feature = "http-server", feature = "http-client"))]
#[doc = include_str!("../../../docs/guides/protecting-a-server.md")]
struct ProtectingAServer;
