#!/usr/bin/env bash
# From nothing to fine-tuned models on two CPU cores, read from top to bottom: a BERT and a ModernBERT of the same size, 0.67
# million parameters, read the same rows with the same masks, and are then fine-tuned on the same task.
#
#     runs/tiny.sh                             # the sample corpus that ships with bertdata; about 5 minutes
#     TEXT=articles.jsonl.zst runs/tiny.sh     # what `--documents` takes: files, a folder or a glob; about 15 minutes
#     TEXT=download runs/tiny.sh               # Simple English Wikipedia: a download of some hundred megabytes first
#     STEPS=20 SEEDS=0 runs/tiny.sh folder     # tries each command, in a minute or two
#
# Everything is written to ./tiny-run, or the folder given. After an interruption run the same command again: what is
# done is kept, and the build and pretraining continue where they were. BERTDATA_DATA, if set, is a folder of real text
# with `wikipedia-plain` in it, as for the tests.
set -euo pipefail
folder=$(mkdir -p "${1:-tiny-run}" && cd "${1:-tiny-run}" && pwd)
cd "$(dirname "$0")/.."
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT # what runs in the background ends with the script
step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }

# 1. Install. A virtual environment with torch and seqeval: a minute or two, most of it for torch. INSTALL=no takes
#    the environment that is active. On Linux pip's torch brings CUDA (2.5 GB); without a GPU, install torch for CPUs and
#    ".[finetune]" in an environment of your own, and run this with INSTALL=no.
step "install"
if [ "${INSTALL:-yes}" = yes ]; then
    [ -x "$folder/venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder/venv"
    # shellcheck source=/dev/null
    . "$folder/venv/bin/activate"
    command -v bertdata | grep -q "^$folder" || pip install --quiet -e ".[finetune]"
fi
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 # one core for each of two models: faster than two cores for one so small

# 2. Text. The sample is 250 kB of articles and books: 500 steps already read its 71,000 tokens over 20 times, enough to
#    see each step work, not to learn English. Real text gets 2,000 steps, 6.7 million tokens, which takes 20 MB of it if no
#    row is to be read twice.
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

# 3. Build: clean the text, train a WordPiece vocabulary, cut the sentences into rows of 32 tokens, hold out some
#    documents. 20 to 60 seconds for 140 MB of text. ModernBERT has no head for pairs, so the objective is RoBERTa's full
#    sentences. The vocabulary is small: 30,000 tokens would put nearly all weights of so small a model into embeddings.
#    Rows are short: BERT learns 32 positions sooner than 128.
step "build"
bertdata build ${sources[@]+"${sources[@]}"} --objective full-sentences --vocab-size 2000 \
    --max-seq-length 32 --validation-fraction "$held_out" --output "$folder/corpus"

# 4. Verify: recounts every number of the manifest from the bytes of the shards; then two rows with their masks marked.
step "verify"
bertdata verify "$folder/corpus"
bertdata show "$folder/corpus" --count 2

# 5. Pretrain. Both models are 128 wide. BERT-tiny has 2 layers; ModernBERT-tiny has 4, and a feed-forward layer of 88
#    makes it as large (675,920 and 672,976 parameters). No dropout: no row of real text is read twice. The seed is the
#    same, so step N has the same rows with the same masks for both. A step of 3,300 tokens takes 0.17 and 0.26 s of a
#    core: 6 minutes for the 2,000 of BERT, 9 for ModernBERT's, at the same time. The loss begins at ln(2000) = 7.6 and
#    is at 5.7, about the entropy of the tokens, after 100 steps. ModernBERT, whose rotary positions tell how far away a
#    token is, goes on from there; BERT, whose embeddings of positions are random at first, needs some 500 steps more.
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

# 7. Fine-tune on a task that the held-out documents give: in each of 2,000 sentences two neighbouring words were swapped,
#    and the model marks these two (F1 of both found, as seqeval counts entities). Another 500 sentences, of other
#    documents, give the score. Five epochs are 625 updates of 16 sentences, about a minute; three seeds each for the
#    pretrained model and for the same architecture with random weights.
step "fine-tune"
task="$folder/order"
[ -e "$task/train.jsonl" ] || python benchmarks/side_by_side.py task "$folder/corpus" "$task" --task order
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

# 8. Report: a table, and the curves of both models in one picture. It ends with a message if the numbers of parameters
#    are more than 2% apart, or the models have read different numbers of tokens.
step "report"
python benchmarks/side_by_side.py report "$folder" bert modernbert
echo "written: $folder/report.md, $folder/curves.svg"
step "done"
