/**
 * What makes the programs of a sandbox use the proxy at `url`. Both cases, because curl reads only `http_proxy` and
 * others only `HTTP_PROXY`. The sandbox's own servers stay reachable without it.
 */
export function proxyEnvironment(url: string): Record<string, string> {
  const ownServers = 'localhost,127.0.0.1,::1';
  const variables = { HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: ownServers };
  const lower = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]);
  // Node's fetch looks at the others only when it is told to.
  return { ...variables, ...Object.fromEntries(lower), NODE_USE_ENV_PROXY: '1' };
}
