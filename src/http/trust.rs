//! Whom to trust: the certificates that the user named with `--cacert`.
//!
//! Responsible for one difference from the rules of the Web: a certificate that stands in the file itself is trusted
//! although it may not sign others, as with curl and browsers. A server of one's own often has just such a one.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::options::{Options, SetupError};

/// The TLS of a client that trusts the certificates of a file alone.
pub(super) fn config(options: &Options, cacert: &Path) -> Result<ClientConfig, SetupError> {
    let bad = |path: &Path, why: String| SetupError::TlsFile { path: path.to_owned(), why };
    let named = certificates(cacert)?;
    if named.is_empty() {
        return Err(bad(cacert, "it holds no certificate".into()));
    }
    let mut roots = RootCertStore::empty();
    for certificate in &named {
        roots.add(certificate.clone()).map_err(|error| bad(cacert, error.to_string()))?;
    }
    let inner =
        WebPkiServerVerifier::builder(Arc::new(roots)).build().map_err(|error| bad(cacert, error.to_string()))?;
    let builder =
        ClientConfig::builder().dangerous().with_custom_certificate_verifier(Arc::new(NamedOrSigned { inner, named }));
    let mut config = match (&options.cert, &options.key) {
        (None, _) => builder.with_no_client_auth(),
        (Some(cert), key) => {
            let key_file = key.as_deref().unwrap_or(cert);
            let key = PrivateKeyDer::from_pem_file(key_file).map_err(|error| bad(key_file, error.to_string()))?;
            let chain = certificates(cert)?;
            builder.with_client_auth_cert(chain, key).map_err(|error| bad(cert, error.to_string()))?
        }
    };
    let protocols: &[&str] = match (options.http1_only, options.http2_only) {
        (true, _) => &["http/1.1"],
        (false, true) => &["h2"],
        (false, false) => &["h2", "http/1.1"],
    };
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(config)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, SetupError> {
    let bad = |why: String| SetupError::TlsFile { path: path.to_owned(), why };
    let found = CertificateDer::pem_file_iter(path).map_err(|error| bad(error.to_string()))?;
    found.collect::<Result<_, _>>().map_err(|error| bad(error.to_string()))
}

/// Accepts what a named certificate has signed, and a named certificate itself.
#[derive(Debug)]
struct NamedOrSigned {
    inner: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for NamedOrSigned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // It is said after the period of validity was looked at, so that holds; the name is still to be checked.
            Err(error) if is_authority(&error) && self.named.iter().any(|named| named == end_entity) => {
                rustls::client::verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// The server's certificate is one that signs others. The kind of this error has no name of its own in `rustls`.
pub(super) fn is_authority(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(kind) if format!("{kind:?}").contains("CaUsedAsEndEntity"))
}
