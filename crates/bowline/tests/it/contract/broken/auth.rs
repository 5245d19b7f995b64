//! Stores of used proofs and revoked tokens that break their contracts: sound ones in
//! memory, with one fault each.

use std::{sync::Arc, time::Duration};

use bowline::{
    server::{
        auth::{
            MemoryRevokedTokenStore, MemoryUsedProofStore, ProofOutcome, RevokedTokenStore,
            RevokedTokens, UsedProof, UsedProofStore,
        },
        store::StoreError,
    },
    testing::contract,
    transport::BoxFuture,
};

use super::{Table, check, violation};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProofFault {
    AcceptsTwice,
    KnowsAll,
    ForgetsEarly,
    ReadsThenWrites,
}

#[test]
fn each_fault_of_a_store_of_proofs_is_rejected_with_its_sentence() {
    use ProofFault as Fault;
    let sentences = [
        (Fault::AcceptsTwice, "a proof was accepted twice"),
        (Fault::KnowsAll, "a proof that nobody used is known"),
        (
            Fault::ReadsThenWrites,
            "a proof was accepted by several nodes",
        ),
        (
            Fault::ForgetsEarly,
            "was forgotten before its ttl had passed",
        ),
    ];
    check(&sentences, |fault| {
        let store = Arc::new(Proofs {
            fault,
            proofs: MemoryUsedProofStore::new(),
            table: Table::default(),
        });
        violation(|| contract::used_proof_store(async || Arc::clone(&store)))
    });
}

struct Proofs {
    fault: Option<ProofFault>,
    proofs: MemoryUsedProofStore,
    table: Table<String, ()>,
}

impl UsedProofStore for Proofs {
    fn insert<'a>(
        &'a self,
        mut proof: UsedProof<'a>,
    ) -> BoxFuture<'a, Result<ProofOutcome, StoreError>> {
        Box::pin(async move {
            match self.fault {
                Some(ProofFault::AcceptsTwice) => return Ok(ProofOutcome::New),
                Some(ProofFault::KnowsAll) => return Ok(ProofOutcome::Used),
                Some(ProofFault::ForgetsEarly) => proof.ttl /= 2,
                Some(ProofFault::ReadsThenWrites) => {
                    let id = proof.id.to_owned();
                    let is_known = self.table.get(&id).is_some();
                    // Others read meanwhile.
                    tokio::task::yield_now().await;
                    self.table.put(id, ());
                    return Ok(match is_known {
                        true => ProofOutcome::Used,
                        false => ProofOutcome::New,
                    });
                }
                None => {}
            }
            self.proofs.insert(proof).await
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenFault {
    LosesWrites,
    RepeatsAll,
    KeepsOnePage,
    Shortens,
    NeverExpires,
    ExpiresEarly,
}

#[test]
fn each_fault_of_a_store_of_revoked_tokens_is_rejected_with_its_sentence() {
    use TokenFault as Fault;
    let sentences = [
        (Fault::LosesWrites, "is missing at another"),
        (Fault::RepeatsAll, "was returned again"),
        (Fault::KeepsOnePage, "of many tokens, some are missing"),
        (Fault::Shortens, "sooner because it was revoked again"),
        (Fault::NeverExpires, "was still revoked 30s after"),
        (Fault::ExpiresEarly, "was valid again before its ttl"),
    ];
    check(&sentences, |fault| {
        let store = Arc::new(Tokens {
            fault,
            tokens: MemoryRevokedTokenStore::new(),
            table: Table::default(),
        });
        violation(|| contract::revoked_token_store(async || Arc::clone(&store)))
    });
}

struct Tokens {
    fault: Option<TokenFault>,
    tokens: MemoryRevokedTokenStore,
    /// The times to live as they were given last.
    table: Table<String, Duration>,
}

impl RevokedTokenStore for Tokens {
    fn revoke<'a>(
        &'a self,
        token: &'a str,
        mut ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.table.put(token.to_owned(), ttl);
        match self.fault {
            Some(TokenFault::LosesWrites) => return Box::pin(async { Ok(()) }),
            Some(TokenFault::NeverExpires) => ttl *= 1000,
            Some(TokenFault::ExpiresEarly) => ttl /= 2,
            _ => {}
        }
        self.tokens.revoke(token, ttl)
    }

    fn revoked_after(&self, position: u64) -> BoxFuture<'_, Result<RevokedTokens, StoreError>> {
        Box::pin(async move {
            let from = match self.fault {
                Some(TokenFault::RepeatsAll) => 0,
                _ => position,
            };
            let mut found = self.tokens.revoked_after(from).await?;
            match self.fault {
                Some(TokenFault::KeepsOnePage) => found.has_more = false,
                Some(TokenFault::Shortens) => {
                    for (token, left) in &mut found.tokens {
                        *left = self.table.get(token).unwrap_or(*left);
                    }
                }
                _ => {}
            }
            Ok(found)
        })
    }
}
