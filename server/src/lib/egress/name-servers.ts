import { isIP } from 'node:net'

/** Reads LOAM_DNS_SERVERS: addresses separated by commas or spaces, with a port if it is not 53. */
export function parseNameServers(text: string): { servers: string[]; errors: string[] } {
  const servers = text.split(/[\s,]+/).filter((part) => part !== '')
  const errors = servers
    .filter((server) => !isNameServer(server))
    .map((server) => `"${server}" is no name server; write 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:53`)
  return { servers, errors }
}

function isNameServer(text: string): boolean {
  if (isIP(text) !== 0) return true
  const [, six, four, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? []
  const portOk = Number(port) >= 1 && Number(port) <= 65_535
  return portOk && (six === undefined ? isIP(four ?? '') === 4 : isIP(six) === 6)
}
