import { type ChildProcess, fork } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

export type Confinement = {
  heapMb: number
  /** Files and folders of the program that the process may read, from the root of the repository; it may read nothing else. */
  readable: readonly string[]
  /** Further flags of Node. */
  flags?: readonly string[]
  /** The whole environment: none of ours is handed on. */
  env?: Record<string, string>
  stderr: 'ignore' | 'inherit'
}

const ROOT = new URL('../../../', import.meta.url)
/**
 * Becomes the process, and leaves a shell behind that kills it when this program ends, which closes the pipe: a process at work
 * would not hear of it. A line instead of the end says that the process ended first.
 */
const END_WITH_PARENT = `( { read -r line <&4 || kill -KILL $$; } 3<&- & )
exec "$@" 4<&-`

/**
 * Forks a process for work that strangers decide: it has none of our environment, may read its own program only, may not write or
 * start processes, and ends with this program however that ends.
 */
export function forkConfined(
  entry: URL,
  { heapMb, readable, flags = [], env = {}, stderr }: Confinement,
): ChildProcess {
  const child = fork(entry, [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', stderr, 'ipc', 'pipe'],
    execPath: '/bin/sh',
    cwd: '/',
    env,
    execArgv: [
      '-c',
      END_WITH_PARENT,
      'sh',
      process.execPath,
      `--max-old-space-size=${heapMb}`,
      ...flags,
      ...permissions(readable),
    ],
  })
  const lifeline = child.stdio[4]
  if (lifeline instanceof Socket) {
    // The process may end while the line is written, and then needs it no more.
    lifeline.on('error', () => undefined).unref()
    child.once('exit', () => lifeline.end('\n'))
  }
  return child
}

/** A process that works keeps this program from ending; one that waits does not. */
export function holdProgram(child: ChildProcess, isAtWork: boolean): void {
  if (isAtWork) {
    child.ref()
    child.channel?.ref()
  } else {
    child.unref()
    child.channel?.unref()
  }
}

function permissions(readable: readonly string[]): string[] {
  if (!process.allowedNodeEnvironmentFlags.has('--permission')) return []
  const paths = readable.map((path) => fileURLToPath(new URL(path, ROOT)))
  // Links too, and where they lead: node_modules often is one.
  const all = new Set([...paths, ...paths.map((path) => realpathSync(path))])
  return [
    '--permission',
    '--disable-warning=ExperimentalWarning',
    ...[...all].map((path) => `--allow-fs-read=${path}`),
  ]
}
