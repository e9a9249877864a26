import type { S3Client } from '@aws-sdk/client-s3';
import type { Endpoint } from './endpoint.ts';
import type { Credentials } from './signature.ts';
import type { Transport } from './transport.ts';

interface SdkOptions {
  readonly endpoint: Endpoint;
  readonly region: string;
  readonly credentials: Credentials;
  readonly transport: Transport;
}

/**
 * Creates the client of the AWS SDK, over the transport's connections. Sets every option that the SDK would otherwise
 * read from the environment or from `~/.aws`: the server's own AWS account must not be used for an account's bucket.
 * The SDK is loaded late, because it is large.
 */
export async function createSdkClient({ endpoint, region, transport, ...options }: SdkOptions): Promise<S3Client> {
  const { S3Client } = await import('@aws-sdk/client-s3');
  const { sessionToken, ...keys } = options.credentials;
  const credentials = sessionToken === undefined ? keys : { ...keys, sessionToken };
  const { agent, connectMs, idleMs } = transport;
  return new S3Client({
    ...{ endpoint: endpoint.service, forcePathStyle: endpoint.isPathStyle, region, credentials },
    // `withRetries` does the retries.
    ...{ maxAttempts: 1, retryMode: 'standard', defaultsMode: 'standard' },
    ...{ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' },
    ...{ useDualstackEndpoint: false, useFipsEndpoint: false, useArnRegion: false, followRegionRedirects: false },
    ...{ disableS3ExpressSessionAuth: true, disableMultiregionAccessPoints: true, disableClockSkewCorrection: true },
    ...{ authSchemePreference: ['sigv4'], sigv4aSigningRegionSet: [region], userAgentAppId: 'croft' },
    requestHandler: { httpAgent: agent, httpsAgent: agent, connectionTimeout: connectMs, socketTimeout: idleMs },
  });
}
