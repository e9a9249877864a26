/**
 * Returns the variables that make programs of a sandbox use the proxy at `url`. Both upper and lower case, because curl
 * reads only `http_proxy` and other programs only `HTTP_PROXY`. Servers inside the sandbox stay reachable without the
 * proxy.
 */
export function proxyEnvironment(url: string): Record<string, string> {
  const ownServers = 'localhost,127.0.0.1,::1';
  const variables = { HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: ownServers };
  const lower = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]);
  // Node's fetch reads the other variables only if this one is set.
  return { ...variables, ...Object.fromEntries(lower), NODE_USE_ENV_PROXY: '1' };
}
