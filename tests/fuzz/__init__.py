"""The payload fuzzer: hides `touch pwned` in random shell text, and compares what our reader sees with what bash runs.

`python -m tests.fuzz --help` says how to run it. Generates and runs only in a scratch folder; decides nothing.

    payloads, words, carriers, programs   the grammar: random texts that run the payload
    everyday, options                     the other two sources: payloads spliced into everyday commands, every option
    mutate                                small random damage to a text
    judge                                 what our reader sees, and whether that is a trace of the payload
    sandbox, oracle                       what bash does with it: a helper process, and the client of it
    campaign, minimise                    many texts on many cores; a finding cut down to its least form
"""
