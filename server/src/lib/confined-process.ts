import { type ChildProcess, fork } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

export type Confinement = {
  heapMb: number
  /**
   * The files and folders that the process may read, relative to the root of the repository. It may read
   * nothing else.
   */
  readable: readonly string[]
  /** Additional flags for Node. */
  flags?: readonly string[]
  /** The whole environment of the process. It inherits no variable from this program. */
  env?: Record<string, string>
  stderr: 'ignore' | 'inherit'
}

const ROOT = new URL('../../../', import.meta.url)
/**
 * Replaces this shell by the process. A second shell stays behind and kills the process when this program
 * ends, which closes the pipe: a busy process would not notice the end itself. A line in the pipe, instead of
 * its end, says that the process has ended first.
 */
const END_WITH_PARENT = `( { read -r line <&4 || kill -KILL $$; } 3<&- & )
exec "$@" 4<&-`

/**
 * Forks a process for work on input that strangers choose. The process inherits no environment variables, may
 * read only its own program, may not write files or start processes, and ends when this program ends, however
 * that happens.
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
    // The process may end while the line is being written. Then nobody needs the line.
    lifeline.on('error', () => undefined).unref()
    child.once('exit', () => lifeline.end('\n'))
  }
  return child
}

/** Lets a busy process keep this program running. An idle process does not keep it running. */
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
  // Real paths are added because a path may be a symbolic link: node_modules often is one.
  const all = new Set([...paths, ...paths.map((path) => realpathSync(path))])
  return [
    '--permission',
    '--disable-warning=ExperimentalWarning',
    ...[...all].map((path) => `--allow-fs-read=${path}`),
  ]
}
