import type { Config } from '#server/lib/config/config.ts'

/** Where a server with these settings answers on this machine; its port is unknown when it takes a free one. */
export function serverAddress({ HOST, PORT }: Pick<Config, 'HOST' | 'PORT'>): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`
}
