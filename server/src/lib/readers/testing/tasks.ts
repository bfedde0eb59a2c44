import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** The tasks that tests pass to readers. */
export const tasks = {
  echo: (document: string, input: unknown) => ({ document, input, pid: process.pid }),
  now: () => Date.now(),
  spin: (_document: string, ms: number) => {
    for (const end = performance.now() + ms; performance.now() < end;);
  },
  fillHeap: () => {
    for (const all: string[][] = []; ;) all.push(Array.from({ length: 100_000 }, (_, n) => `${n}`))
  },
  fillBuffers: () => {
    for (const all: Buffer[] = []; ;) all.push(Buffer.alloc(10_000_000, 1))
  },
  overflow: (): unknown => tasks.overflow(),
  hang: () => new Promise(() => undefined),
  large: () => 'x'.repeat(20_000_000),
  fail: () => {
    throw new TypeError('a fault of ours')
  },
  exit: () => process.exit(3),
  /** Tries to read and write outside of the program. */
  reach: (_document: string, { secret, target }: { secret: string; target: string }) => ({
    env: Object.keys(process.env),
    exists: attempt(() => existsSync(secret)),
    read: attempt(() => readFileSync(secret, 'utf8')),
    write: attempt(() => writeFileSync(target, 'x')),
  }),
}

function attempt(work: () => unknown): string {
  try {
    return `done: ${String(work())}`
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code ?? String(cause)
  }
}
