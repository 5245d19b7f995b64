//! Used DPoP proofs.

use std::sync::Arc;

use bowline::{
    server::{
        auth::{ProofOutcome, UsedProof, UsedProofStore},
        store::StoreError,
    },
    transport::BoxFuture,
};

use crate::{connection::Connection, keys::Kind, limits::Limit, script::PROOF_INSERT};

/// One account may use one in this many of the free places.
const ACCOUNT_SHARE_DIVISOR: u64 = 8;

/// A [`UsedProofStore`] in Redis.
pub struct RedisUsedProofStore {
    pub(crate) connection: Arc<Connection>,
    pub(crate) max_proofs: u64,
}

impl UsedProofStore for RedisUsedProofStore {
    fn insert<'a>(
        &'a self,
        proof: UsedProof<'a>,
    ) -> BoxFuture<'a, Result<ProofOutcome, StoreError>> {
        Box::pin(async move {
            let keys = self.connection.keys().with_quota(Kind::Proof, proof.id);
            let limit = Limit::new(self.max_proofs, u64::MAX).per_account(u64::MAX, u64::MAX);
            let call = PROOF_INSERT
                .call(keys)
                .limited(proof.account, &limit)
                .text(proof.id)
                .ttl(proof.ttl)
                .owned(self.connection.token())
                .number(ACCOUNT_SHARE_DIVISOR);
            let reply = self.connection.run(call).await?;
            if reply.is("USED") {
                return Ok(ProofOutcome::Used);
            }
            reply.ok().map(|_| ProofOutcome::New)
        })
    }
}
