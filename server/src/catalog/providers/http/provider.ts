import { defineBuiltIn } from '../../provider/provider.ts'

/** Any server whose address is given to a source. */
export const http = defineBuiltIn('http', 'HTTP')
