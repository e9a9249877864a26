/** Paths in a sandbox, the same for every provider. */
export const sandboxHome = '/home/croft';
export const initPath = '/run/croft/init';
export const proxyPath = '/run/croft/proxy.sock';
/** Certificates that the operator's programs trust. */
export const certificatesPath = '/run/croft/certificates';
/** Settings derived from those of the operator. */
export const settingsPath = '/run/croft/settings';
/** The operator's package caches. */
export const hostCachesPath = '/run/croft/caches';
/** Passed to the init instead of the path of a proxy: `NO_NETWORK` of `native/relay/deny-nscd.h`. */
export const noNetwork = 'no-network';
/**
 * Directory of the socket at which the init answers name lookups if there is no network: `SOCKET_PATH` of
 * `native/relay/deny-nscd.c`.
 */
export const nscdDirectory = '/var/run/nscd';
/** Limits of a user namespace. The kernel shows every process those of its own namespace. */
export const userLimitsSource = '/proc/sys/user';
/** Path at which the init can write these limits; `/proc` is read-only in a sandbox. */
export const userLimitsPath = '/run/croft/user';
/** Private, because it is mounted for one sandbox. */
export const temporaryPath = '/tmp';
/** Directory in which package managers store fetched packages. */
export const cachePath = `${sandboxHome}/.cache`;

/** Directories of system programs. Those that are links into /usr on the host are links in the sandbox too. */
export const systemDirectories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
