// Serves a provider in its own process. The argument is the delay of its responses in milliseconds. Prints
// its address.
import { serveProvider } from '#test/doubles/provider.ts'

const { url } = await serveProvider(Number(process.argv[2]), { company: 'Acme', employees: 120 })
process.stdout.write(`Loam is ready at ${url}\n`)
