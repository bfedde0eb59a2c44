import type { Config } from '#server/lib/config/config.ts'
import { readServer } from '#server/process/running-server.ts'

type Place = Pick<Config, 'HOST' | 'PORT' | 'LOAM_DATA_DIR'>

/**
 * Returns the address of the server that runs on this data folder, or the one it would have by these
 * settings. If it takes a free port, the port is unknown.
 */
export function serverAddress({ HOST, PORT, LOAM_DATA_DIR }: Place): string {
  const running = readServer(LOAM_DATA_DIR)
  if (running !== null) return running.url
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`
}
