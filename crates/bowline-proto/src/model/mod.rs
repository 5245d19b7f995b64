//! Every message type of all revisions, as one superset.
