import { serialize } from 'node:v8'

/** A request to a reader: run a task of a module on a document. */
export type ReaderRequest = { module: string; task: string; document: string | Uint8Array; input: unknown }
export type ReaderMessage =
  /**
   * The module of the current document has been loaded, for it and all later documents. The time of the
   * document begins now.
   */
  | { kind: 'loaded' }
  | { kind: 'read'; value: Uint8Array }
  | { kind: 'large' | 'memory' }
  | { kind: 'threw'; message: string }

type Tasks = Record<string, (document: unknown, input: unknown) => unknown>

/** The size limit of a result that is sent to the server, in bytes. */
const MAX_RESULT = 8 * 1024 * 1024

const send = (message: ReaderMessage) => void process.send?.(message)

/** The tasks of the modules that have been loaded. A repeated import takes time for each document. */
const loaded = new Map<string, Tasks>()
/** The queue of documents. They are read one after another, in the order in which they arrived. */
let line = Promise.resolve()

async function answer({ module, task, document, input }: ReaderRequest): Promise<ReaderMessage> {
  const tasks = loaded.get(module) ?? (await load(module))
  const value = serialize(await tasks[task]?.(document, input))
  return value.length > MAX_RESULT ? { kind: 'large' } : { kind: 'read', value }
}

async function load(module: string): Promise<Tasks> {
  const { tasks } = (await import(module)) as { tasks: Tasks }
  loaded.set(module, tasks)
  send({ kind: 'loaded' })
  return tasks
}

process.on('disconnect', () => process.exit())
process.on('message', (request: ReaderRequest) => {
  line = line
    .then(() => answer(request))
    .then(send, (cause: unknown) => {
      // The stack, a text or an array is full. Only documents of strangers are that large.
      if (cause instanceof RangeError) send({ kind: 'memory' })
      else
        send({
          kind: 'threw',
          message: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
        })
    })
})
