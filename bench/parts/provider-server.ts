// Serves a provider in its own process. The argument is the delay of its responses in milliseconds. Prints
// its address.
import { READY } from '#server/lib/log-lines.ts'
import { serveProvider } from '#test/doubles/provider.ts'

const { url } = await serveProvider(Number(process.argv[2]), { company: 'Acme', employees: 120 })
process.stdout.write(`${READY} ${url}\n`)
