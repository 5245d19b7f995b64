//! What each revision of the protocol may put on the wire.
