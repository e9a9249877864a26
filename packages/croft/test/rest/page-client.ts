import { request } from 'node:http';

export interface PageRequest {
  readonly token?: string | undefined;
  readonly cookie?: string | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: unknown;
}

export interface PageAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly json: any;
  readonly text: string;
  readonly setCookie: string;
}

/** What a browser sends from Croft's own page. `headers` replaces parts of it; `undefined` takes a header away. */
export function createPageClient(port: number, host = 'croft.localhost') {
  return (
    method: string,
    path: string,
    { token, cookie, headers = {}, body }: PageRequest = {},
  ): Promise<PageAnswer> => {
    const own: Record<string, string | undefined> = {
      host: `${host}:${port}`,
      'sec-fetch-site': 'same-origin',
      ...(method !== 'GET' && { origin: `http://${host}:${port}`, 'croft-page': '1' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(cookie !== undefined && { cookie }),
      ...headers,
    };
    return send(port, method, path, own, body);
  };
}

function send(
  port: number,
  method: string,
  path: string,
  given: Record<string, string | undefined>,
  body: unknown,
): Promise<PageAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PageAnswer>();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const length = text === undefined ? undefined : String(Buffer.byteLength(text));
  const all = Object.entries({ ...given, 'content-length': length });
  const headers = Object.fromEntries(all.filter(([, value]) => value !== undefined));
  const outgoing = request({ hostname: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
    let answered = '';
    response.setEncoding('utf8').on('data', (chunk) => {
      answered += chunk;
    });
    response.on('end', () => {
      const [setCookie = ''] = response.headers['set-cookie'] ?? [];
      const json = answered === '' ? undefined : JSON.parse(answered);
      resolve({ status: response.statusCode ?? 0, text: answered, setCookie, json });
    });
  });
  outgoing.on('error', reject);
  outgoing.end(text);
  return promise;
}

/** The cookie as the browser sends it back. */
export function cookieOf({ setCookie }: Pick<PageAnswer, 'setCookie'>): string {
  return setCookie.split(';')[0] ?? '';
}
