/** Where things are inside a sandbox, whoever made it. */
export const home = '/home/croft';
export const initPath = '/run/croft/init';
export const proxyPath = '/run/croft/proxy.sock';
/** Where package managers keep what they fetched. */
export const cachePath = `${home}/.cache`;

/** The system's programs. Where these are links into /usr they become links again. */
export const systemDirectories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
