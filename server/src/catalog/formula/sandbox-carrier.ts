import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { forkConfined, holdProgram } from '../../lib/confined-process.ts'
import type { EvaluationBatch, EvaluationReply } from './sandbox-worker.ts'

/** Expressions run in a thread of this process or in a process of their own. */
export type CarrierKind = 'thread' | 'process'

export type Carrier = {
  kind: CarrierKind
  /** The id of the process; undefined for a thread. */
  pid?: number | undefined
  post(batch: EvaluationBatch): void
  /** Keeps this process from ending while there is work, and no longer. */
  ref(): void
  unref(): void
  end(): Promise<void>
}

type Heard = { onReply: (reply: EvaluationReply) => void; onBroken: (message: string) => void }

const WORKER = new URL('sandbox-worker.ts', import.meta.url)
const HEAP_MB = 128
/** Lists the files that the program of the sandbox consists of. */
const READABLE = ['server/src/catalog/formula', 'node_modules', 'package.json']

/** Starts a carrier. It gets none of this process's environment, which holds secrets. */
export function startCarrier(kind: CarrierKind, heard: Heard): Carrier {
  return kind === 'thread' ? startThread(heard) : startProcess(heard)
}

function startThread({ onReply, onBroken }: Heard): Carrier {
  const worker = new Worker(WORKER, {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  })
  worker.unref()
  worker.on('message', onReply)
  worker.on('error', (cause: Error) => onBroken(cause.message))
  return {
    kind: 'thread',
    post: (batch) => worker.postMessage(batch, []),
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    async end() {
      worker.ref()
      await worker.terminate()
    },
  }
}

function startProcess({ onReply, onBroken }: Heard): Carrier {
  const child = forkConfined(WORKER, { heapMb: HEAP_MB, readable: READABLE, stderr: 'inherit' })
  const ended = once(child, 'exit').catch(() => undefined)
  holdProgram(child, false)
  child.on('message', (reply) => onReply(reply as EvaluationReply))
  child.on('error', (cause) => onBroken(cause.message))
  child.on('exit', (code, signal) => onBroken(`its process ended with ${signal ?? code}`))
  return {
    kind: 'process',
    pid: child.pid,
    // A batch that cannot be sent has met a process that ended, whose `exit` is heard above.
    post: (batch) => void child.send(batch, () => undefined),
    ref: () => holdProgram(child, true),
    unref: () => holdProgram(child, false),
    async end() {
      child.ref()
      child.kill('SIGKILL')
      await ended
    },
  }
}
