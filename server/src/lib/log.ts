import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'

export type Log = Logger

const KEY_TEXT = /loam_[0-9A-Za-z]{40}/g
const BEARER_TEXT = /(bearer\s+)[^\s"\\]+/gi

/** JSON lines on stderr. Fields that may hold secrets are cut, and so is any key that slipped into a text. */
export function createLog(level: string, destination: DestinationStream = process.stderr): Log {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_PATHS, censor: '[redacted]' },
    },
    {
      write: (line) =>
        destination.write(line.replace(KEY_TEXT, 'loam_[redacted]').replace(BEARER_TEXT, '$1[redacted]')),
    },
  )
}

const SECRET_NAMES = ['authorization', 'cookie', 'password', 'secret', 'token', 'key', 'api_key', 'url']
const SECRET_PATHS = SECRET_NAMES.flatMap((name) => [
  name,
  `*.${name}`,
  `headers.${name}`,
  `*.headers.${name}`,
])
