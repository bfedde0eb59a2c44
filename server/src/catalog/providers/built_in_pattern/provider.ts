import { defineBuiltIn } from '../../provider/provider.ts'

export const builtInPattern = defineBuiltIn('built_in_pattern', 'Built-in pattern')
