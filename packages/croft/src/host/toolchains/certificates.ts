import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { certificatesPath } from '../sandbox-paths.ts';

/** A file or directory of this machine, and its path in the sandbox, where it is read-only. */
export interface HostFileMount {
  readonly source: string;
  readonly target: string;
}

interface Certificates {
  readonly environment: Readonly<Record<string, string>>;
  readonly files: readonly HostFileMount[];
}

/** Variables that name files of trusted certificate authorities, most often those of a company. */
const certificateVariables = [
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO'],
  ...['CARGO_HTTP_CAINFO', 'PIP_CERT', 'AWS_CA_BUNDLE', 'npm_config_cafile', 'NPM_CONFIG_CAFILE', 'DENO_CERT'],
  ...['YARN_HTTPS_CA_FILE_PATH', 'BUNDLE_SSL_CA_CERT', 'COMPOSER_CAFILE', 'HEX_CACERTS_PATH', 'NIX_SSL_CERT_FILE'],
  ...['CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE', 'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH'],
];
const maxBytes = 4 * 1024 * 1024;

/** Finds the variables that are set, each with its file. A file that also holds a private key is left out. */
export function findCertificates(
  variables: Readonly<Record<string, string | undefined>>,
  isVisible: (path: string) => boolean,
): Certificates {
  const found = certificateVariables.flatMap((name) => {
    const path = variables[name];
    return path?.startsWith('/') && isCertificates(path) ? [{ name, path }] : [];
  });
  const hidden = [...new Set(found.map(({ path }) => path))].filter((path) => !isVisible(path));
  const targets = new Map(
    hidden.map((path, index) => [path, join(certificatesPath, `${index}-${basename(path)}`)] as const),
  );
  return {
    environment: Object.fromEntries(found.map(({ name, path }) => [name, targets.get(path) ?? path])),
    files: [...targets].map(([path, target]) => ({ source: path, target })),
  };
}

function isCertificates(path: string): boolean {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > maxBytes) return false;
    const text = readFileSync(path, 'latin1');
    return /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/.test(text) && !text.includes('PRIVATE KEY-----');
  } catch {
    return false;
  }
}
