//! Serving tools, resources and prompts.
