import { defineBuiltIn } from '../../provider/provider.ts'

export const builtIn = defineBuiltIn('built_in', 'Built-in')
