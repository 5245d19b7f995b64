//! What HTTP adds to the protocol: headers, event streams, sessions. Rules only, no sockets.
