import { serialize } from 'node:v8'

/** Asks a reader to run a task of a module on a document. */
export type Asked = { module: string; task: string; document: string | Uint8Array; input: unknown }
export type Said =
  /** The module of the document at hand is loaded, for it and all that follow: the time of the document begins. */
  | { kind: 'loaded' }
  | { kind: 'read'; value: Uint8Array }
  | { kind: 'large' | 'memory' }
  | { kind: 'threw'; message: string }

type Tasks = Record<string, (document: unknown, input: unknown) => unknown>

/** Bounds the bytes of a result that is sent to the server. */
const MAX_RESULT = 8 * 1024 * 1024

const say = (said: Said) => void process.send?.(said)

const loaded = new Set<string>()
/** Documents are read one after another, in the order in which they came. */
let line = Promise.resolve()

async function answer({ module, task, document, input }: Asked): Promise<Said> {
  const { tasks } = (await import(module)) as { tasks: Tasks }
  if (!loaded.has(module)) say({ kind: 'loaded' })
  loaded.add(module)
  const value = serialize(await tasks[task]?.(document, input))
  return value.length > MAX_RESULT ? { kind: 'large' } : { kind: 'read', value }
}

process.on('disconnect', () => process.exit())
process.on('message', (asked: Asked) => {
  line = line
    .then(() => answer(asked))
    .then(say, (cause: unknown) => {
      // The stack, a text or an array is full: only what strangers send is that large.
      if (cause instanceof RangeError) say({ kind: 'memory' })
      else
        say({
          kind: 'threw',
          message: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
        })
    })
})
