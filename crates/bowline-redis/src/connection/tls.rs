//! TLS connections, as the other parts of Bowline make them.

#[cfg(feature = "tls")]
mod enabled {
    use std::{io, sync::Arc};

    use rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _},
    };
    use rustls_platform_verifier::BuilderVerifierExt as _;
    use tokio::net::TcpStream;
    use tokio_rustls::TlsConnector;

    use super::super::address::ByteStream;

    /// Makes TLS connections.
    #[derive(Clone)]
    pub(crate) struct Tls(TlsConnector);

    impl Tls {
        /// Trusts the certificate authorities in `roots`, or those of the system, and
        /// presents a certificate, if there is one with its key. All are in PEM format.
        pub(crate) fn new(
            roots: Option<&[u8]>,
            identity: Option<(&[u8], &[u8])>,
        ) -> Result<Self, String> {
            // Named explicitly: a process default might be missing.
            let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(|error| error.to_string())?;
            let builder = match roots {
                None => builder
                    .with_platform_verifier()
                    .map_err(|error| error.to_string())?,
                Some(pem) => builder.with_root_certificates(root_store(pem)?),
            };
            let config = match identity {
                None => builder.with_no_client_auth(),
                Some((certificates, key)) => {
                    let certificates = certificates_in(certificates)?;
                    let key = PrivateKeyDer::from_pem_slice(key)
                        .map_err(|error| format!("the private key cannot be read: {error}"))?;
                    builder
                        .with_client_auth_cert(certificates, key)
                        .map_err(|error| format!("the certificate cannot be used: {error}"))?
                }
            };
            Ok(Self(TlsConnector::from(Arc::new(config))))
        }

        pub(in super::super) async fn connect(
            &self,
            host: &str,
            stream: TcpStream,
        ) -> io::Result<Box<dyn ByteStream>> {
            let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
            Ok(Box::new(self.0.connect(name, stream).await?))
        }
    }

    fn root_store(pem: &[u8]) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates_in(pem)? {
            roots
                .add(certificate)
                .map_err(|error| format!("a root certificate cannot be used: {error}"))?;
        }
        Ok(roots)
    }

    fn certificates_in(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let certificates =
            certificates.map_err(|error| format!("a certificate cannot be read: {error}"))?;
        match certificates.is_empty() {
            true => Err("there is no certificate in the PEM file".to_owned()),
            false => Ok(certificates),
        }
    }
}

#[cfg(not(feature = "tls"))]
mod disabled {
    use std::io;

    use tokio::net::TcpStream;

    use super::super::address::ByteStream;

    /// Never exists.
    #[derive(Clone)]
    pub(crate) enum Tls {}

    impl Tls {
        pub(crate) fn new(
            _roots: Option<&[u8]>,
            _identity: Option<(&[u8], &[u8])>,
        ) -> Result<Self, String> {
            Err("it needs TLS: enable the feature `tls` of bowline-redis".to_owned())
        }

        pub(in super::super) async fn connect(
            &self,
            _host: &str,
            _stream: TcpStream,
        ) -> io::Result<Box<dyn ByteStream>> {
            match *self {}
        }
    }
}

#[cfg(not(feature = "tls"))]
pub(crate) use disabled::Tls;
#[cfg(feature = "tls")]
pub(crate) use enabled::Tls;
