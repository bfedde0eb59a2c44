import pc from 'picocolors'

type Entry = Record<string, unknown> & { level: string; time: string; msg?: string }

const PAINT: Record<string, (text: string) => string> = {
  warn: pc.yellow,
  error: pc.red,
  fatal: pc.red,
  debug: pc.dim,
  trace: pc.dim,
}
const HIDDEN = new Set(['level', 'time', 'pid', 'msg', 'stack', 'err'])

/**
 * Formats a JSON log line for a terminal: time, level, message, then the other fields, and the stack below.
 */
export function formatForTerminal(line: string): string {
  const entry = JSON.parse(line) as Entry
  const { level, time, msg = '' } = entry
  const paint = PAINT[level] ?? pc.cyan
  const error = (entry['err'] ?? {}) as { message?: string; stack?: string }
  const text = [msg, error.message === msg ? '' : error.message].filter(Boolean).join(': ')
  const fields = Object.entries(entry)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => pc.dim(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`))
  const head = [pc.dim(clockTime(time)), paint(level.padEnd(5)), text, ...fields].join(' ')
  return error.stack === undefined ? `${head}\n` : `${head}\n${pc.dim(error.stack)}\n`
}

function clockTime(iso: string): string {
  return new Date(iso).toLocaleTimeString('en-GB')
}
