import { exaAnswer } from '../providers/exa/answer.ts'
import { linkupAnswer } from '../providers/linkup/answer.ts'
import { perplexityAnswer } from '../providers/perplexity/answer.ts'
import { tavilyAnswer } from '../providers/tavily/answer.ts'

/** Who answers questions from the web, in the order of the default. */
export const ANSWERERS = [perplexityAnswer, linkupAnswer, exaAnswer, tavilyAnswer]
