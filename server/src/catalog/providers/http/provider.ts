import { defineBuiltIn } from '../../provider/provider.ts'

/** Any server that a source is given the address of. */
export const http = defineBuiltIn('http', 'HTTP')
