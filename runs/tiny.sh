#!/usr/bin/env bash
# From nothing to fine-tuned models on two CPU cores, read from top to bottom: a BERT and a ModernBERT with the same number
# of parameters (0.68 million) read the same rows with the same masks, and are then fine-tuned on the same task.
#
#     runs/tiny.sh                             # the sample corpus that ships with bertdata; about 10 minutes
#     TEXT=articles.jsonl.zst runs/tiny.sh     # files, folders or a glob that `--documents` takes; 20 to 30 minutes
#     TEXT=download runs/tiny.sh               # Simple English Wikipedia: a download of some hundred megabytes first
#     STEPS=20 SEEDS=0 runs/tiny.sh folder     # tries each command, in about two minutes
#
# Everything is written to ./tiny-run, or the folder given. After an interruption run the same command again: what is done
# is kept, builds and pretraining continue where they were. BERTDATA_DATA, if set, is a folder of real text with a
# `wikipedia-plain` in it, as the tests use it.
set -euo pipefail
folder=$(mkdir -p "${1:-tiny-run}" && cd "${1:-tiny-run}" && pwd)
cd "$(dirname "$0")/.."
step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }

# 1. Install. A virtual environment with torch and seqeval: a minute or two, most of it for torch. INSTALL=no takes the
#    environment that is active. PyPI's torch for Linux brings CUDA (2.5 GB); without a GPU, install torch for CPUs first
#    (pytorch.org has the command) and run this with INSTALL=no.
step "install"
if [ "${INSTALL:-yes}" = yes ]; then
    [ -x "$folder/venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder/venv"
    # shellcheck source=/dev/null
    . "$folder/venv/bin/activate"
    command -v bertdata | grep -q "^$folder" || pip install --quiet -e ".[torch,finetune]"
fi
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 # one core for each of two models: faster than two cores for one so small

# 2. Text. The sample is 250 kB of articles and books, so 1,000 steps already read its 110,000 tokens 40 times. Real text
#    gets 4,000 steps, 16 million tokens: BERT learns little more than the frequency of tokens in the first 500 to 1,500,
#    then what stands beside what. With 25 million tokens or more (a glob of Wikipedia files of 60 MB) none is read twice.
step "text"
text=${TEXT:-${BERTDATA_DATA:+$BERTDATA_DATA/wikipedia-plain}}
steps=${STEPS:-2000} held_out=0.02
case "${text:-sample}" in
    sample) sources=() steps=${STEPS:-500} held_out=0.1 ;;
    download)
        bertdata download wikipedia --language simple --output "$folder/simplewiki"
        sources=(--wikipedia "$folder/simplewiki")
        ;;
    *) sources=(--documents "wikipedia=$text") ;;
esac

# 3. Build: clean the text, train a WordPiece vocabulary, cut sentences into rows of 64 tokens, hold out some documents.
#    20 to 60 seconds for 140 MB of text. ModernBERT has no pair head, so the objective is RoBERTa's full sentences. The
#    vocabulary is small (2,000 tokens) because 0.7 million parameters with 30,000 tokens would all be embeddings.
step "build"
bertdata build ${sources[@]+"${sources[@]}"} --objective full-sentences --vocab-size "${VOCAB_SIZE:-2000}" --max-seq-length 32 \
    --validation-fraction "$held_out" --output "$folder/corpus"

# 4. Verify: recounts every number of the manifest from the bytes of the shards; then two rows with their masks marked.
step "verify"
bertdata verify "$folder/corpus"
bertdata show "$folder/corpus" --count 2

# 5. Pretrain. Both models are 128 wide. BERT-tiny has 2 layers; ModernBERT-tiny has 4, and a feed-forward layer of 96
#    makes it as large (680,016 and 685,264 parameters). Dropout is off in both, for no row is read twice. The seed is the
#    same, so step N has the same rows with the same masks for both. On one core of its own each, a step of 4,096 tokens
#    takes 0.15 to 0.3 s: 10 to 20 minutes for 4,000. At the start the loss is ln(2000) = 7.6; it falls to about 5.7 in
#    100 steps, which is the entropy of the tokens. ModernBERT, which knows distances between tokens from its rotary
#    positions, goes on at once; BERT has to learn its position embeddings first.
step "pretrain"
settings=(--max-steps "$steps" --batch-size 128 --learning-rate 2e-3 --warmup-ratio 0.05)
settings+=(--logging-steps 50 --eval-steps 250 --save-steps 500 --num-workers 0 --device cpu)
pretrain() { # name, preset, changes of its config
    local output="$folder/$1" preset=$2
    shift 2
    bertdata pretrain "$folder/corpus" --config "$preset" --config-overrides "$@" --output "$output" "${settings[@]}"
}
pretrain bert tiny max_position_embeddings=32 hidden_dropout_prob=0 attention_probs_dropout_prob=0 >"$folder/bert.txt" &
running=$!
pretrain modernbert modernbert-tiny max_position_embeddings=32 intermediate_size=88 >"$folder/modernbert.txt"
wait "$running"

# 6. Validation: 2,048 held-out rows with the same masks each time were scored every 250 steps and at the end.
step "validation"
grep -h -e "^validation" -e "^loss" -e "^output" "$folder/bert.txt" "$folder/modernbert.txt"

# 7. Fine-tune on a task that the held-out documents give: in 4,000 sentences two neighbouring words were swapped, and the
#    model marks the two (F1 of both found, as seqeval counts entities; a random guess scores about 10%). TASK=capitals:
#    mark the words that were written with a capital letter, which the vocabulary does not show. A run takes 1,250 updates
#    of 16 sentences, 20 to 60 s; for three seeds the pretrained model, and the same architecture from random weights.
step "fine-tune"
task="$folder/${TASK:-order}"
[ -e "$task/train.jsonl" ] || python benchmarks/side_by_side.py task "$folder/corpus" "$task" --task "${TASK:-order}"
bertdata encode-task --task token-classification --max-seq-length 32 --train "$task/train.jsonl" \
    --validation "$task/validation.jsonl" --vocab "$folder/corpus/tokenizer" --output "$task/shards"
finetune() { # model, name, seed
    local output="$folder/tuned/$2-$3"
    [ -e "$output/scores.json" ] || bertdata finetune "$task/shards" --model "$1" --output "$output" --seed "$3" \
        --epochs 5 --batch-size 16 --learning-rate 1e-3 --device cpu
}
tune() { # name
    local seed
    for seed in ${SEEDS:-0 1 2}; do
        finetune "$folder/$1" "$1" "$seed"
        python benchmarks/side_by_side.py fresh "$folder/corpus" "$folder/$1" "$folder/fresh/$1-$seed" --seed "$seed"
        finetune "$folder/fresh/$1-$seed" "$1-scratch" "$seed"
    done
}
tune bert >"$folder/bert-tuned.txt" &
running=$!
tune modernbert >"$folder/modernbert-tuned.txt"
wait "$running"

# 8. Report: a table, and the curves of both models in one picture. It ends with a message if the two had different numbers
#    of parameters (more than 2% apart) or of tokens.
step "report"
python benchmarks/side_by_side.py report "$folder" bert modernbert
echo "written: $folder/report.md, $folder/curves.svg"
step "done"
