import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { forkConfined, holdProgram } from '../../lib/confined-process.ts'
import type { EvaluationBatch, EvaluationReply } from './sandbox-worker.ts'

/** The two ways to run expressions: in a thread of this process, or in a separate process. */
export type CarrierKind = 'thread' | 'process'

export type Carrier = {
  kind: CarrierKind
  /** The id of the process; undefined for a thread. */
  pid?: number | undefined
  post(batch: EvaluationBatch): void
  /** Keeps this process running while there is work. `unref` allows it to end again. */
  ref(): void
  unref(): void
  end(): Promise<void>
}

type Listener = { onReply: (reply: EvaluationReply) => void; onBroken: (message: string) => void }

const WORKER = new URL('sandbox-worker.ts', import.meta.url)
const HEAP_MB = 128
/** The files that the sandbox's program consists of. */
const READABLE = ['server/src/catalog/formula', 'node_modules', 'package.json']

/** Starts a carrier. It gets none of this process's environment, which holds secrets. */
export function startCarrier(kind: CarrierKind, listener: Listener): Carrier {
  return kind === 'thread' ? startThread(listener) : startProcess(listener)
}

function startThread({ onReply, onBroken }: Listener): Carrier {
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

function startProcess({ onReply, onBroken }: Listener): Carrier {
  const child = forkConfined(WORKER, { heapMb: HEAP_MB, readable: READABLE, stderr: 'inherit' })
  const ended = once(child, 'exit').catch(() => undefined)
  holdProgram(child, false)
  child.on('message', (reply) => onReply(reply as EvaluationReply))
  child.on('error', (cause) => onBroken(cause.message))
  child.on('exit', (code, signal) => onBroken(`its process ended with ${signal ?? code}`))
  return {
    kind: 'process',
    pid: child.pid,
    // A batch cannot be sent if the process has ended, and its `exit` event above handles that.
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
