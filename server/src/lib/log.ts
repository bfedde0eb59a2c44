import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'
import { formatForTerminal } from './terminal-log.ts'

export type Log = Logger

const KEY_TEXT = /loam_[0-9A-Za-z]{40}/g
const BEARER_TEXT = /(bearer\s+)[^\s"\\]+/gi
const SECRET_NAMES = ['authorization', 'cookie', 'password', 'secret', 'token', 'key', 'api_key', 'url']
const SECRET_FIELD = new RegExp(`"(?:${SECRET_NAMES.join('|')})":`, 'i')

/**
 * Creates a log that writes JSON lines to stderr, or readable lines if that is a terminal. Fields that may
 * contain secrets are redacted, and so is an API key inside any text.
 */
export function createLog(
  level: string,
  destination: DestinationStream & { isTTY?: boolean } = process.stderr,
): Log {
  const format = destination.isTTY === true ? formatForTerminal : (line: string) => line
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => destination.write(format(redact(line))) },
  )
}

/**
 * Redacts a finished line, so that no nesting and no serializer gets around it. Most lines cost only the
 * search.
 */
function redact(line: string): string {
  const cut = SECRET_FIELD.test(line) ? `${JSON.stringify(JSON.parse(line), cutSecretField)}\n` : line
  return cut.replace(KEY_TEXT, 'loam_[redacted]').replace(BEARER_TEXT, '$1[redacted]')
}

function cutSecretField(name: string, value: unknown): unknown {
  return SECRET_NAMES.includes(name.toLowerCase()) ? '[redacted]' : value
}
